// The pictures: bars by status, and rows set aside by reason. Drawn here as SVG at the width there is, so that their
// letters stay as large as the page's. A bar leads to the tasks it stands for.
"use strict";

const STATUS_ORDER = ["proven", "failed", "unproven"];
const BAR = { row: 40, height: 12 };

function picture(title, description, drawn, ...notes) {
  return make(
    "figure",
    { class: "card" },
    make("figcaption", {}, title),
    description ? make("p", { class: "note" }, description) : null,
    drawn,
    ...notes,
  );
}

/** Horizontal bars; items are {label, parts: [[class, number]], address}. A bar with an address is a link. */
function bars(items, width, label) {
  const most = Math.max(1, ...items.map((item) => total(item)));
  const svg = draw("svg", {
    viewBox: `0 0 ${width} ${items.length * BAR.row}`,
    width,
    height: items.length * BAR.row,
    role: "group",
    "aria-label": label,
  });
  items.forEach((item, at) => {
    const top = at * BAR.row;
    const sum = total(item);
    let left = 0;
    const rects = item.parts
      .filter(([, number]) => number)
      .map(([kind, number]) => {
        const long = (width * number) / most;
        const rect = draw(
          "rect",
          { x: left, y: top + 22, width: Math.max(1, long - 1), height: BAR.height, rx: 2, class: `fill ${kind}` },
          draw("title", {}, `${count(number)} ${kind}`),
        );
        left += long;
        return rect;
      });
    const told = `${item.label}: ${count(sum)}`;
    const drawn = [
      draw("rect", { x: 0, y: top, width, height: BAR.row - 2, class: "back", rx: 4 }),
      draw("rect", { x: 0, y: top + 22, width, height: BAR.height, rx: 2, class: "rail" }),
      ...rects,
      draw("text", { x: 0, y: top + 15 }, shortened(item.label, (width - 70) / 7.2)),
      draw("text", { x: width, y: top + 15, "text-anchor": "end", class: "number" }, count(sum)),
    ];
    svg.append(
      item.address
        ? draw("a", { href: item.address, "aria-label": told }, ...drawn)
        : draw("g", { role: "img", "aria-label": told }, ...drawn),
    );
  });
  return svg;
}

const total = (item) => item.parts.reduce((sum, [, number]) => sum + number, 0);
const shortened = (text, most) => (text.length > most ? `${text.slice(0, Math.max(3, most - 1))}…` : text);

function byStatus(tasks) {
  return STATUS_ORDER.map((status) => [status, tasks.filter((task) => task.status === status).length]);
}

/** Bars of one facet's values. */
function facetBars(key, tasks, choice, width, most = 14) {
  const facet = FACETS.find((one) => one.key === key);
  const values = valuesOf(facet, tasks);
  const groups = new Map(values.map((value) => [value, []]));
  for (const task of tasks) for (const value of new Set(facet.of(task))) groups.get(value).push(task);
  if (!facet.order) values.sort((one, other) => groups.get(other).length - groups.get(one).length);
  const items = values.slice(0, most).map((value) => ({
    label: facet.name?.(value) ?? value,
    parts: byStatus(groups.get(value)),
    address: `#?${choice.withOnly(key, value)}`,
  }));
  return [
    bars(items, width, facet.label),
    values.length > most ? make("p", { class: "note" }, `and ${counted(values.length - most, "other")}`) : null,
  ];
}

/** All pictures, for a box of this width. */
function pictures(tasks, catalog, choice, width) {
  const measured = tasks.filter((task) => task.peak !== null && task.peak > 0);
  const facets = [
    ["status", "Proof"],
    ["split", "Splits"],
    ["tier", "Tiers"],
    ["type", "Answer types"],
    ["size", "Memory limits"],
    ["table", "Tables"],
  ];
  const drawn = tasks.length
    ? facets.map(([key, title]) => {
        const [svg, more] = facetBars(key, tasks, choice, width);
        return picture(title, "", svg, more);
      })
    : [];
  drawn.splice(
    1,
    0,
    ...(measured.length
      ? memoryPictures(measured, width)
      : [picture("Memory", "No task was measured yet: harborwright verify does it.", "")]),
  );
  return [...drawn, rejectedPicture(catalog, width)];
}

function rejectedPicture({ rejected, hasRejected }, width) {
  if (!hasRejected)
    return picture("Rows set aside", "This catalog came without the list of rows that became no task.", "");
  if (!rejected.length) return picture("Rows set aside", "None: every row became a task.", "");
  const kinds = [...Map.groupBy(rejected, (row) => row.kind)].sort(([, one], [, other]) => other.length - one.length);
  return picture(
    "Rows set aside, by reason",
    "",
    bars(
      kinds.map(([kind, rows]) => ({
        label: kind,
        parts: [["plain", rows.length]],
        address: `#aside?${new URLSearchParams({ kind })}`,
      })),
      width,
      "Rows set aside by reason",
    ),
  );
}
