// The filters beside the table: of each facet its values as boxes to tick, each with how many tasks it would show, as a
// number and as a bar. Of a facet with many values (tables) the most frequent are shown, and a field finds the others.
"use strict";

const SHOWN_OF_MANY = 8;

class Filters {
  /** @param onChange told after the choice was changed */
  constructor(panel, choice, tasks, onChange) {
    Object.assign(this, { choice, onChange, finds: {} });
    this.values = Object.fromEntries(FACETS.map((facet) => [facet.key, valuesOf(facet, tasks)]));
    this.lists = Object.fromEntries(FACETS.map((facet) => [facet.key, make("div", { class: "options" })]));
    panel.append(...FACETS.filter(({ key }) => this.values[key].length).map((facet) => this.fieldset(facet)));
  }

  fieldset(facet) {
    const many = facet.many && this.values[facet.key].length > SHOWN_OF_MANY;
    const find =
      many &&
      make("input", {
        type: "search",
        placeholder: `Find among ${count(this.values[facet.key].length)}`,
        "aria-label": `Find a ${facet.label.toLowerCase()}`,
        autocomplete: "off",
        oninput: (event) => {
          this.finds[facet.key] = event.target.value.trim().toLowerCase();
          this.show(this.counts);
        },
      });
    return make("fieldset", { "data-facet": facet.key }, make("legend", {}, facet.label), find, this.lists[facet.key]);
  }

  /** Show how many tasks each value would show. */
  show(counts) {
    this.counts = counts;
    const focused = document.activeElement?.closest?.(".option input")?.id;
    for (const facet of FACETS) this.lists[facet.key].replaceChildren(...this.options(facet, counts[facet.key]));
    if (focused) byId(focused)?.focus();
  }

  options(facet, counts) {
    const chosen = this.choice.sets[facet.key];
    let values = this.values[facet.key];
    // What the address names and this catalog has not is shown too, or nobody could take it away again.
    const foreign = [...chosen].filter((value) => !values.includes(value));
    if (facet.many) {
      const find = this.finds[facet.key] ?? "";
      const fit = values.filter((value) => !chosen.has(value) && value.toLowerCase().includes(find));
      fit.sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0));
      values = [...values.filter((value) => chosen.has(value)), ...fit.slice(0, SHOWN_OF_MANY)];
    }
    const most = Math.max(1, ...values.map((value) => counts.get(value) ?? 0));
    return [...foreign, ...values].map((value) => this.option(facet, value, counts.get(value) ?? 0, most));
  }

  option(facet, value, tasks, most) {
    const at = this.values[facet.key].indexOf(value);
    const box = make("input", {
      type: "checkbox",
      id: `${facet.key}-${at < 0 ? `x${value}` : at}`,
      value,
      onchange: () => {
        this.choice.toggle(facet.key, value);
        this.onChange();
      },
    });
    box.checked = this.choice.sets[facet.key].has(value);
    const bar = make("span", { class: "share", "aria-hidden": "true" });
    bar.style.setProperty("--part", tasks / most);
    return make(
      "label",
      { class: tasks ? "option" : "option nothing" },
      box,
      quoted(facet.name?.(value) ?? value, "value"),
      make("span", { class: "number" }, count(tasks)),
      bar,
    );
  }
}

/** The values of a facet: in their own order, else by name. */
function valuesOf(facet, tasks) {
  const found = [...new Set(tasks.flatMap(facet.of))];
  return facet.order ? facet.order.filter((value) => found.includes(value)) : found.sort(byName);
}
