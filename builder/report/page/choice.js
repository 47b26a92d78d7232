// Which tasks are chosen, and in which order: search, filters and sort, as values and as the page's #fragment.
"use strict";

const NONE = "none";
const byName = new Intl.Collator("en", { numeric: true }).compare;

/** The class of a memory limit: the power of two, in MB, that it does not exceed. */
const sizeClass = (mb) => String(2 ** Math.ceil(Math.log2(Math.max(mb, 1))));

/** That class in words: "over 2, to 4 GB". */
function sizeName(key) {
  const [over, to] = [ofMegabytes(key / 2), ofMegabytes(Number(key))].map((size) => size.split(" "));
  return `over ${over[1] === to[1] ? over[0] : over.join(" ")}, to ${to.join(" ")}`;
}

// `of`: the values of a task; a task is chosen where one of them is. `order`: of values that have one of their own.
const FACETS = [
  { key: "status", label: "Status", of: (task) => [task.status], order: ["proven", "failed", "unproven"] },
  { key: "split", label: "Split", of: (task) => [task.split] },
  { key: "tier", label: "Tier", of: (task) => [task.tier ?? NONE], order: ["easy", "medium", "hard", NONE] },
  { key: "type", label: "Answer type", of: (task) => [task.type] },
  {
    key: "size",
    label: "Memory limit",
    of: (task) => [sizeClass(task.memory)],
    name: sizeName,
    order: Array.from({ length: 40 }, (_, power) => String(2 ** power)),
  },
  { key: "table", label: "Table", of: (task) => task.tables, many: true },
];

// `value`: what is compared; a task without one comes last, whichever way.
const ORDERS = {
  name: { label: "Task", value: (task) => task.name },
  status: { label: "Status", value: (task) => ["failed", "unproven", "proven"].indexOf(task.status) },
  split: { label: "Split", value: (task) => task.split },
  tier: { label: "Tier", value: (task) => ({ easy: 0, medium: 1, hard: 2 })[task.tier] ?? null },
  type: { label: "Answer", value: (task) => task.type },
  tables: { label: "Tables", value: (task) => task.tables[0] ?? null },
  size: { label: "Size", value: (task) => task.memory },
  peak: { label: "Peak of limit", value: (task) => (task.peak === null ? null : task.peak / task.memory) },
};

class Choice {
  constructor() {
    this.clear();
    this.sort = "name";
    this.down = false;
  }

  clear() {
    this.search = "";
    this.sets = Object.fromEntries(FACETS.map((facet) => [facet.key, new Set()]));
  }

  /** Whether less than everything may be chosen. */
  get narrow() {
    return this.search.trim() !== "" || FACETS.some((facet) => this.sets[facet.key].size > 0);
  }

  toggle(key, value) {
    if (!this.sets[key].delete(value)) this.sets[key].add(value);
  }

  sortBy(key) {
    this.down = this.sort === key && !this.down;
    this.sort = key;
  }

  /** As it stands in the page's address; read back by `read`. */
  get text() {
    const pairs = new URLSearchParams();
    if (this.search) pairs.append("q", this.search);
    for (const facet of FACETS) for (const value of this.sets[facet.key]) pairs.append(facet.key, value);
    if (this.sort !== "name" || this.down) pairs.append("sort", (this.down ? "-" : "") + this.sort);
    return pairs.toString();
  }

  read(text) {
    const pairs = new URLSearchParams(text);
    this.clear();
    this.search = pairs.get("q") ?? "";
    for (const facet of FACETS) this.sets[facet.key] = new Set(pairs.getAll(facet.key));
    const sort = pairs.get("sort") ?? "name";
    this.down = sort.startsWith("-");
    this.sort = Object.hasOwn(ORDERS, sort.replace(/^-/, "")) ? sort.replace(/^-/, "") : "name";
  }

  /** The address of this choice with one facet set to one value alone. */
  withOnly(key, value) {
    const other = new Choice();
    other.read(this.text);
    other.sets[key] = new Set([value]);
    return other.text;
  }

  /**
   * The chosen tasks, in order, and of each facet its values with how many tasks each has among those that everything
   * but this facet chooses: so a filter tells what choosing it would give.
   */
  apply(tasks) {
    const words = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    const counts = Object.fromEntries(FACETS.map((facet) => [facet.key, new Map()]));
    for (const task of tasks) {
      if (!words.every((word) => task.text.includes(word))) continue;
      const failing = FACETS.filter(
        ({ key, of }) => this.sets[key].size > 0 && !of(task).some((value) => this.sets[key].has(value)),
      );
      if (failing.length > 1) continue;
      for (const { key, of } of failing.length ? failing : FACETS) {
        for (const value of new Set(of(task))) counts[key].set(value, (counts[key].get(value) ?? 0) + 1);
      }
      if (!failing.length) found.push(task);
    }
    return { tasks: this.sorted(found), counts };
  }

  /** Sorted by the chosen order; `tasks` are sorted by name, and stay so where the order does not tell them apart. */
  sorted(tasks) {
    const { value } = ORDERS[this.sort];
    const sign = this.down ? -1 : 1;
    return tasks
      .map((task) => [value(task), task])
      .sort(([one], [other]) => {
        if (one === other) return 0;
        if (one === null || other === null) return one === null ? 1 : -1;
        return sign * (typeof one === "string" ? byName(one, other) : one - other);
      })
      .map(([, task]) => task);
  }
}

/** Make every task ready to be searched, and sort all by name. */
function prepare(tasks) {
  for (const task of tasks) {
    task.text = [task.name, task.question, task.split, task.tier, task.type, task.status, ...task.tables]
      .join("\n")
      .toLowerCase();
  }
  return tasks.sort((one, other) => byName(one.name, other.name));
}
