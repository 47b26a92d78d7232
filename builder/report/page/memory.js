// The pictures of memory: limits against measured peaks, and what part of its limit a task needed.
"use strict";

const SHARE = 0.8; // of its memory limit is the most that a proven task may have needed; catalog/receipts.py has it too
const EDGES = [0, 0.05, 0.1, 0.2, 0.4, 0.6, SHARE]; // of the parts of a limit; most tasks need little of theirs

function canvas(width, height, label) {
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
}

const logScale = (low, high, from, to) => (value) =>
  from + ((Math.log2(value) - Math.log2(low)) / (Math.log2(high) - Math.log2(low))) * (to - from);

/** Powers of two from low to high, at most some six of them. */
function ticks(low, high) {
  const [first, last] = [Math.ceil(Math.log2(low)), Math.floor(Math.log2(high))];
  const by = Math.max(1, Math.ceil((last - first + 1) / 7));
  return Array.from({ length: Math.max(0, Math.floor((last - first) / by) + 1) }, (_, at) => 2 ** (first + at * by));
}

/** Memory limits (across) against measured peaks (up), both by doublings. */
function limitsAndPeaks(measured, width) {
  const height = Math.min(380, Math.max(260, width * 0.62));
  const [left, right, top, bottom] = [58, width - 12, 12, height - 42];
  const limits = measured.map((task) => task.memory);
  const peaks = measured.map((task) => Math.max(task.peak, 1));
  const [lowX, highX] = [Math.min(...extent(limits)) / 1.6, Math.max(...extent(limits)) * 1.6];
  const [lowY, highY] = [Math.min(...extent(peaks)) / 1.5, Math.max(...extent(limits), ...extent(peaks)) * 1.25];
  const [x, y] = [logScale(lowX, highX, left, right), logScale(lowY, highY, bottom, top)];
  const svg = canvas(width, height, `Memory limits and measured peaks of ${counted(measured.length, "task")}`);
  for (const mb of ticks(lowX, highX)) {
    svg.append(
      draw("line", { x1: x(mb), x2: x(mb), y1: top, y2: bottom, class: "rule" }),
      draw("text", { x: x(mb), y: bottom + 18, "text-anchor": "middle", class: "tick" }, ofMegabytes(mb)),
    );
  }
  for (const mb of ticks(lowY, highY)) {
    svg.append(
      draw("line", { x1: left, x2: right, y1: y(mb), y2: y(mb), class: "rule" }),
      draw("text", { x: left - 8, y: y(mb) + 4, "text-anchor": "end", class: "tick" }, ofMegabytes(mb)),
    );
  }
  svg.append(slope(1, "equal"), slope(SHARE, "most"));
  svg.append(
    draw("text", { x: right, y: height - 4, "text-anchor": "end", class: "tick" }, "memory limit →"),
    draw("text", { x: left + 6, y: top + 12, class: "tick" }, "↑ measured peak"),
  );
  svg.append(...dots());
  return svg;

  function slope(share, kind) {
    const [from, to] = [Math.max(lowX, lowY / share), Math.min(highX, highY / share)];
    return draw("line", { x1: x(from), y1: y(from * share), x2: x(to), y2: y(to * share), class: `slope ${kind}` });
  }

  function dots() {
    const near = Map.groupBy(
      measured,
      (task) => `${Math.round(x(task.memory) / 5)} ${Math.round(y(Math.max(task.peak, 1)) / 5)} ${task.status}`,
    );
    const largestFirst = [...near.values()].sort((some, others) => others.length - some.length);
    return largestFirst.map((tasks) => {
      const [one] = tasks;
      const who = tasks.length === 1 ? one.name : counted(tasks.length, "task");
      const told = `${ofMegabytes(one.peak)} of ${ofMegabytes(one.memory)}: ${who}`;
      const dot = draw(
        "circle",
        {
          cx: x(one.memory),
          cy: y(Math.max(one.peak, 1)),
          r: Math.min(10, 2.5 + 0.8 * Math.sqrt(tasks.length)),
          class: `dot ${one.status}`,
        },
        draw("title", {}, told),
      );
      return tasks.length === 1 ? draw("a", { href: addressOf(one), tabindex: "-1", "aria-label": told }, dot) : dot;
    });
  }
}

/** Least and most, without handing thousands of arguments to one call. */
function extent(numbers) {
  return numbers.reduce(
    ([least, most], number) => [Math.min(least, number), Math.max(most, number)],
    [Infinity, -Infinity],
  );
}

/** How many tasks needed which part of their limit. */
function neededShares(measured, width) {
  const height = 200;
  const [top, bottom] = [22, height - 24];
  const within = ({ peak, memory }, at) => peak / memory >= EDGES[at] && peak / memory < (EDGES[at + 1] ?? Infinity);
  const columns = EDGES.map((_, at) => measured.filter((task) => within(task, at)).length);
  const names = EDGES.map((edge, at) =>
    EDGES[at + 1] ? `${percent(edge)} to ${percent(EDGES[at + 1])} %` : `${percent(edge)} % and more`,
  );
  const most = Math.max(1, ...columns);
  const wide = width / columns.length;
  const svg = canvas(
    width,
    height,
    `Peak as a share of the limit: ${names.map((name, at) => `${name}: ${counted(columns[at], "task")}`).join(", ")}`,
  );
  columns.forEach((tasks, at) => {
    const high = ((bottom - top) * tasks) / most;
    const over = EDGES[at] >= SHARE;
    svg.append(
      draw("rect", { x: at * wide + 2, y: top, width: wide - 4, height: bottom - top, rx: 3, class: "rail" }),
      draw(
        "rect",
        {
          x: at * wide + 2,
          y: bottom - high,
          width: wide - 4,
          height: high,
          rx: 3,
          class: `fill ${over ? "failed" : "plain"}`,
        },
        draw("title", {}, `${names[at]}: ${counted(tasks, "task")}`),
      ),
      draw(
        "text",
        { x: (at + 0.5) * wide, y: bottom - high - 5, "text-anchor": "middle", class: "tick" },
        tasks ? count(tasks) : "",
      ),
      draw(
        "text",
        { x: at * wide, y: bottom + 16, "text-anchor": at ? "middle" : "start", class: over ? "tick most" : "tick" },
        at ? `${percent(EDGES[at])} %` : "0",
      ),
    );
  });
  svg.append(draw("line", { x1: 0, x2: width, y1: bottom, y2: bottom, class: "axis" }));
  return svg;
}

const percent = (share) => Math.round(100 * share);

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function memoryPictures(measured, width) {
  const tightest = measured.reduce((one, other) => (other.peak / other.memory > one.peak / one.memory ? other : one));
  const room = median(measured.map((task) => task.memory / task.peak));
  return [
    picture(
      "Memory limits against measured peaks",
      `A dot for each of ${counted(measured.length, "measured task")}, larger where several are. On the red line a ` +
        `peak would be the limit; above the dashed one (${percent(SHARE)} %) a task is not proven.`,
      limitsAndPeaks(measured, width),
      make(
        "p",
        { class: "note" },
        `Limit over peak: median ${rounded(room, 2)}, least ${rounded(tightest.memory / tightest.peak, 2)} (`,
        make("a", { href: addressOf(tightest) }, quoted(tightest.name)),
        ").",
      ),
    ),
    picture(
      "How much of its limit a task needed",
      `Tasks by the part of their memory limit that was used at its peak; past ${percent(SHARE)}\u00a0% a task is not proven.`,
      neededShares(measured, width),
    ),
  ];
}
