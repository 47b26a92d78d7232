// Brings the parts together: which view the page's #fragment asks for, the keys, and the colours.
"use strict";

const VIEWS = ["tasks", "pictures", "aside", "task"];
const THEME = "harborwright-theme";

/** A task's address on this page. */
const addressOf = (task) => `#${task.path.split("/").map(encodeURIComponent).join("/")}`;

class Page {
  constructor(catalog) {
    Object.assign(this, { catalog, choice: new Choice(), view: null, list: "#?" });
    this.tasks = prepare(catalog.tasks);
    this.byAddress = new Map(this.tasks.map((task) => [addressOf(task), task]));
    this.grid = new Grid(byId("tasks-scroller"), {
      name: "tasks",
      label: "Tasks",
      columns: columns(),
      onOpen: (task) => {
        location.hash = addressOf(task);
      },
      onSort: (key) => {
        this.choice.sortBy(key);
        this.chosen();
      },
    });
    this.grid.empty.append(
      this.tasks.length ? "No task fits what is searched and filtered." : "This catalog has no tasks.",
    );
    this.filters = new Filters(byId("filters"), this.choice, this.tasks, () => this.chosen());
    this.aside = new Aside(catalog);
    this.fill();
    this.listen();
    this.route();
  }

  /** What stands on the page whatever is chosen. */
  fill() {
    const { catalog, tasks } = this;
    document.title = `${seen(catalog.catalog)} · report`;
    byId("catalog").replaceChildren(quoted(catalog.catalog));
    byId("answers").hidden = !catalog.withAnswers;
    const figures = STATUS_ORDER.map((status) => [
      status,
      tasks.filter((task) => task.status === status).length,
    ]).filter(([, tasks]) => tasks);
    byId("figures").replaceChildren(
      make("a", { href: "#?" }, counted(tasks.length, "task")),
      ...figures.map(([status, number]) =>
        make("a", { href: `#?status=${status}`, class: `status ${status}` }, `${count(number)} ${status}`),
      ),
    );
    if (catalog.rejected.length)
      document
        .querySelector('[data-view="aside"]')
        .append(make("span", { class: "badge" }, count(catalog.rejected.length)));
    byId("sort").append(...Object.entries(ORDERS).map(([key, order]) => make("option", { value: key }, order.label)));
  }

  listen() {
    byId("search").addEventListener("input", (event) => {
      this.choice.search = event.target.value;
      this.chosen();
    });
    byId("sort").addEventListener("change", (event) => {
      Object.assign(this.choice, { sort: event.target.value, down: false });
      this.chosen();
    });
    byId("filters-button").addEventListener("click", (event) => {
      const open = byId("filters").classList.toggle("open");
      event.currentTarget.setAttribute("aria-expanded", String(open));
    });
    for (const button of document.querySelectorAll(".clear")) {
      button.addEventListener("click", () => {
        this.choice.clear();
        this.chosen();
      });
    }
    byId("keys-button").addEventListener("click", () => byId("keys").showModal());
    window.addEventListener("hashchange", () => {
      if (this.stepped !== location.hash) this.route();
      this.stepped = null;
    });
    document.addEventListener("keydown", (event) => this.key(event));
    let width = 0;
    new ResizeObserver(([entry]) => {
      if (this.view !== "pictures" || entry.contentRect.width === width) return;
      width = entry.contentRect.width;
      this.showPictures();
    }).observe(byId("pictures"));
  }

  /** After the choice changed: the address follows, and what is seen. */
  chosen() {
    const text = this.choice.text;
    const address = this.view === "pictures" ? `#pictures${text && `?${text}`}` : `#?${text}`;
    history.replaceState(null, "", address);
    this.list = `#?${text}`;
    this.showChosen();
  }

  showChosen() {
    const { choice } = this;
    const { tasks, counts } = choice.apply(this.tasks);
    if (byId("search").value !== choice.search) byId("search").value = choice.search;
    byId("sort").value = choice.sort;
    byId("count").value = choice.narrow
      ? `${count(tasks.length)} of ${counted(this.tasks.length, "task")}`
      : counted(tasks.length, "task");
    for (const button of document.querySelectorAll(".clear")) button.hidden = !choice.narrow;
    this.filters.show(counts);
    this.grid.sorted(choice.sort, choice.down);
    this.grid.show(tasks);
    if (this.view === "pictures") this.showPictures();
  }

  showPictures() {
    const box = byId("pictures");
    const tasks = this.grid.values;
    byId("pictured").replaceChildren(
      this.choice.narrow
        ? `Pictures of the ${count(tasks.length)} chosen of ${counted(this.tasks.length, "task")}`
        : `Pictures of all ${counted(tasks.length, "task")}`,
    );
    const columnWidth = box.clientWidth >= 900 ? (box.clientWidth - 20) / 2 : box.clientWidth;
    box.replaceChildren(...pictures(tasks, this.catalog, this.choice, Math.max(240, Math.floor(columnWidth) - 42)));
  }

  /** Show what the address asks for: a list with its choice, the pictures, the rows set aside, or one task. */
  route() {
    const address = location.hash;
    const [place, text = ""] = address.replace(/^#/, "").split(/\?(.*)/s);
    if (place === "" || place === "pictures") {
      this.choice.read(text);
      this.list = `#?${this.choice.text}`;
      this.show(place || "tasks");
      this.showChosen();
      if (place === "") this.grid.comeBack();
    } else if (place === "aside") {
      this.show("aside");
      this.aside.read(text);
      this.aside.grid.comeBack();
    } else {
      this.open(this.byAddress.get(address) ?? this.byAddress.get(addressOf({ path: decoded(place) })), place);
    }
  }

  show(view) {
    const came = this.view;
    this.view = view;
    for (const name of VIEWS) byId(`view-${name}`).hidden = name !== view;
    for (const link of document.querySelectorAll("[data-view]")) {
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.querySelector('[data-view="tasks"]').setAttribute("href", this.list);
    document
      .querySelector('[data-view="pictures"]')
      .setAttribute("href", this.list.replace(/^#\??/, "#pictures?").replace(/\?$/, ""));
    if (view === "tasks" && came === "task") this.grid.focus();
  }

  async open(task, place) {
    this.show("task");
    const box = byId("task");
    if (!task) {
      box.replaceChildren(
        make("p", { class: "problem" }, "There is no task ", make("code", {}, decoded(place)), " in this catalog."),
        make("p", {}, make("a", { href: this.list }, "All tasks")),
      );
      return;
    }
    if (!this.grid.table.hasAttribute("aria-rowcount")) this.showChosen();
    const at = this.grid.values.indexOf(task);
    if (at >= 0) this.grid.active = at;
    const beside = (step) => (at >= 0 && this.grid.values[at + step] ? addressOf(this.grid.values[at + step]) : null);
    const around = {
      back: this.list,
      before: beside(-1),
      next: beside(1),
      where: at >= 0 ? `${count(at + 1)} of ${count(this.grid.values.length)}` : "",
    };
    this.around = around; // at once: the next key may come before this task is unpacked
    const details = await detailsOf(task);
    if (this.view !== "task" || this.around !== around) return; // gone on meanwhile
    box.replaceChildren(...taskPage(task, details, this.catalog, around));
    byId("view-task").scrollTop = 0;
    byId("task-title").focus({ preventScroll: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const field = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") this.escape(field);
    else if (field?.type === "search") this.fromSearch(event);
    else if (field) return;
    else if (event.key === "/") this.search(event);
    else if (event.key === "?") byId("keys").showModal();
    else if (this.view === "task")
      this.step({ ArrowLeft: this.around?.before, ArrowRight: this.around?.next }[event.key]);
    else if (event.target === document.body) this.toGrid(event);
  }

  get shownGrid() {
    return { tasks: this.grid, aside: this.aside.grid }[this.view];
  }

  search(event) {
    event.preventDefault();
    if (this.view !== "aside" && this.view !== "tasks") location.hash = this.list;
    const aside = this.view === "aside";
    if (!aside) {
      this.show("tasks");
    }
    byId(aside ? "aside-search" : "search").focus();
    byId(aside ? "aside-search" : "search").select();
  }

  /** From the search into what it found. */
  fromSearch(event) {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    if (!["search", "aside-search"].includes(event.target.id)) return;
    event.preventDefault();
    this.shownGrid?.goTo(0);
    this.shownGrid?.focus();
  }

  /** The first arrow on a page where nothing has the focus. */
  toGrid(event) {
    if (!["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].includes(event.key) || !this.shownGrid) return;
    event.preventDefault();
    this.shownGrid.focus();
  }

  /** To the task before or after, at once: the browser tells of a new address later than the next key may come. */
  step(address) {
    if (!address) return;
    location.hash = address;
    this.stepped = location.hash;
    this.route();
  }

  escape(field) {
    if (this.view === "task") location.hash = this.list;
    else if (field?.type === "search" && field.value) {
      field.value = "";
      field.dispatchEvent(new Event("input"));
    } else this.shownGrid?.focus();
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

colours();
loadCatalog()
  .then((catalog) => {
    new Page(catalog);
    byId("wait").remove();
  })
  .catch((error) => {
    const why =
      typeof DecompressionStream === "undefined"
        ? "this browser cannot unpack it; take one of the last two years"
        : String(error);
    byId("wait").replaceChildren(seen(`This report cannot be shown: ${why}.`));
    byId("wait").className = "problem";
  });
