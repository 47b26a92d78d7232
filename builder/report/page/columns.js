// The columns of the table of tasks: what each shows of a task.
"use strict";

function columns() {
  const cells = {
    name: (task) => [
      make("a", { href: addressOf(task), tabindex: "-1", class: "main" }, quoted(task.name)),
      quoted(task.question, "second"),
    ],
    status: (task) => [statusChip(task.status)],
    split: (task) => [quoted(task.split)],
    tier: (task) => [task.tier ?? "–"],
    type: (task) => [task.type],
    tables: (task) => [
      quoted(task.tables[0] ?? "–"),
      task.ofTables > 1 ? make("span", { class: "second" }, `and ${count(task.ofTables - 1)} more`) : null,
    ],
    size: (task) => [
      ofMegabytes(task.memory),
      make("span", { class: "second" }, `${ofCpus(task.cpus)}, ${ofMegabytes(task.storage)} disk`),
    ],
    peak: (task) =>
      task.peak === null
        ? [make("span", { class: "dim" }, "not measured")]
        : [
            `${rounded((100 * task.peak) / task.memory)} %`,
            make("span", { class: "dim" }, ` ${ofMegabytes(task.peak)}`),
            gauge(task.peak, task.memory),
          ],
  };
  return Object.entries(ORDERS).map(([key, { label }]) => ({ key, label, sortable: true, cell: cells[key] }));
}
