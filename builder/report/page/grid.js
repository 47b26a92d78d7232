// A table of any length of which only what is seen is in the document. Its focus stays on the table while rows come and
// go (WAI-ARIA: grid with aria-activedescendant). Its roles are spelt out, as on a phone its rows are no table rows.
"use strict";

const BEYOND = 8; // rows above and below what is seen

class Grid {
  /**
   * @param scroller the element it scrolls in
   * @param name its id, and the beginning of its rows' ids
   * @param label what it is called
   * @param columns {key, label, cell(value) -> children, sortable}
   * @param onOpen told the value of the row that is opened
   * @param onSort told the key of the column by which to sort
   */
  constructor(scroller, { name, label, columns, onOpen, onSort = () => {} }) {
    Object.assign(this, { scroller, name, columns, onOpen, onSort, values: [], active: 0, top: 0 });
    this.heads = columns.map((column) => this.head(column));
    this.body = make("tbody", { role: "rowgroup" });
    this.table = make(
      "table",
      { id: name, role: "grid", tabindex: "0", "aria-label": label, "aria-colcount": columns.length },
      make("thead", { role: "rowgroup" }, make("tr", { role: "row", "aria-rowindex": "1" }, this.heads)),
      this.body,
    );
    this.empty = make("div", { class: "empty", hidden: true });
    scroller.append(this.table, this.empty);
    scroller.addEventListener(
      "scroll",
      () => {
        this.top = scroller.scrollTop;
        this.render();
      },
      { passive: true },
    );
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.render()).observe(scroller);
  }

  head({ key, label, sortable }) {
    const inside = sortable ? make("button", { type: "button", onclick: () => this.onSort(key) }, label) : label;
    return make("th", { role: "columnheader", scope: "col", class: `c-${key}` }, inside);
  }

  /** Show these values; the row of `active`, where it is among them, is the one that Enter opens. */
  show(values, active = this.values[this.active]) {
    this.values = values;
    this.active = Math.max(0, values.indexOf(active));
    this.table.setAttribute("aria-rowcount", values.length + 1);
    this.table.hidden = values.length === 0;
    this.empty.hidden = values.length > 0;
    this.render();
  }

  /** Say by which column the values are sorted. */
  sorted(key, down) {
    this.columns.forEach((column, at) => {
      if (column.sortable)
        this.heads[at].setAttribute("aria-sort", column.key !== key ? "none" : down ? "descending" : "ascending");
    });
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 56;
  }

  get headHeight() {
    return this.table.tHead.offsetHeight;
  }

  render() {
    const height = this.rowHeight;
    const seenRows = Math.ceil(this.scroller.clientHeight / height);
    // After a filter the place that is scrolled to may lie beyond the last row; the browser corrects it later.
    const first = Math.min(Math.floor(this.scroller.scrollTop / height), this.values.length - seenRows);
    const from = Math.max(0, first - BEYOND);
    const to = Math.min(this.values.length, from + seenRows + 2 * BEYOND);
    const rows = this.values.slice(from, to).map((value, at) => this.row(value, from + at));
    this.body.replaceChildren(spacer(from * height), ...rows, spacer((this.values.length - to) * height));
    const shown = this.active >= from && this.active < to;
    if (shown) this.table.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.table.removeAttribute("aria-activedescendant");
  }

  row(value, at) {
    const cells = this.columns.map((column) =>
      make("td", { role: "gridcell", class: `c-${column.key}` }, column.cell(value)),
    );
    const chosen = at === this.active;
    return make(
      "tr",
      {
        id: `${this.name}-${at}`,
        role: "row",
        "aria-rowindex": at + 2,
        "aria-selected": String(chosen),
        class: chosen ? "active" : null,
      },
      cells,
    );
  }

  key(event) {
    if (event.target !== this.table || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((this.scroller.clientHeight - this.headHeight) / this.rowHeight) - 1);
    const last = this.values.length - 1;
    const to = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.goTo(Math.max(0, Math.min(to, last)));
    } else if (event.key === "Enter" && this.values.length) {
      event.preventDefault();
      this.onOpen(this.values[this.active]);
    }
  }

  click(event) {
    const row = event.target.closest("tr[id]");
    if (!row || event.target.closest("a") || String(getSelection())) return;
    this.active = Number(row.id.slice(this.name.length + 1));
    this.onOpen(this.values[this.active]);
  }

  /** Make a row the active one, and bring it into sight. */
  goTo(at) {
    this.active = at;
    const [top, height] = [at * this.rowHeight, this.rowHeight];
    const room = this.scroller.clientHeight - this.headHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + height > this.scroller.scrollTop + room) this.scroller.scrollTop = top + height - room;
    this.render();
  }

  /** After the table was out of sight, which loses its place: scroll back, and see to the active row. */
  comeBack() {
    this.scroller.scrollTop = this.top;
    if (this.values.length) this.goTo(this.active);
  }

  focus() {
    this.table.focus({ preventScroll: true });
  }
}

function spacer(height) {
  const row = make("tr", { class: "spacer", "aria-hidden": "true", role: "presentation" });
  row.style.height = `${height}px`;
  return row;
}
