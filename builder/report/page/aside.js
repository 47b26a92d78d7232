// The rows that became no task: searched, by reason, and one row opened.
"use strict";

const ANY_KIND = "";

class Aside {
  constructor(catalog) {
    this.catalog = catalog;
    for (const row of catalog.rejected)
      row.text = [row.id, row.where, row.kind, whole(row.question).text, whole(row.reason).text]
        .join("\n")
        .toLowerCase();
    this.grid = new Grid(byId("aside-scroller"), {
      name: "rows",
      label: "Rows set aside",
      columns: [
        {
          key: "name",
          label: "Row",
          cell: (row) => [quoted(row.id || "(no id)", "main"), quoted(whole(row.question).text, "second")],
        },
        { key: "kind", label: "Set aside as", cell: (row) => [quoted(row.kind)] },
        { key: "where", label: "Where", cell: (row) => [quoted(row.where, "path")] },
      ],
      onOpen: (row) => this.open(row),
    });
    this.grid.empty.append(
      catalog.hasRejected ? "No row fits." : "This catalog came without the list of rows that became no task.",
    );
    const kinds = [...Map.groupBy(catalog.rejected, (row) => row.kind)].sort(
      ([, one], [, other]) => other.length - one.length,
    );
    byId("kind").append(
      make("option", { value: ANY_KIND }, "any"),
      ...kinds.map(([kind, rows]) => make("option", { value: kind }, `${kind} (${count(rows.length)})`)),
    );
    byId("kind").addEventListener("change", () => this.show());
    byId("aside-search").addEventListener("input", () => this.show());
    byId("aside-note").append(catalog.withAnswers ? "" : "Reasons in full may name answers, and are not in this file.");
    if (catalog.hasRejected && !catalog.rejected.length)
      this.grid.empty.replaceChildren("No row was set aside: every row became a task.");
  }

  /** Show what an address asks for. */
  read(text) {
    const kind = new URLSearchParams(text).get("kind");
    if (kind !== null) byId("kind").value = kind;
    this.show();
  }

  show() {
    const words = byId("aside-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = byId("kind").value;
    const rows = this.catalog.rejected.filter(
      (row) => (kind === ANY_KIND || row.kind === kind) && words.every((word) => row.text.includes(word)),
    );
    byId("aside-count").value = `${count(rows.length)} of ${counted(this.catalog.rejected.length, "row")}`;
    this.grid.show(rows);
  }

  open(row) {
    const question = whole(row.question);
    const reason = whole(row.reason);
    const dialog = byId("row");
    dialog.replaceChildren(
      make("h2", { id: "row-title" }, quoted(row.id || "(no id)")),
      make(
        "p",
        { class: "chips" },
        make("span", { class: "chip" }, row.kind),
        make("span", { class: "chip" }, quoted(row.where, "path")),
      ),
      ...[reason.text && make("p", { dir: "auto" }, reason.text), reason.note].filter(Boolean),
      make("h3", {}, "Question"),
      make("div", { class: "instruction", dir: "auto" }, question.text || "nothing"),
      question.note ?? "",
      make("form", { method: "dialog" }, make("button", {}, "Close")),
    );
    dialog.showModal();
  }
}
