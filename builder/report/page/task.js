// The page of one task: what is asked, what it needs, what is in it, how it is graded, and what was proven.
"use strict";

const PROOF = {
  proven: "Every trial ended as it must, the oracle's and the idle agent's among them.",
  failed: "A trial did not end as it must.",
  unproven: "No receipt stands for this task yet.",
};
const BEGUN = "What was tried ended as it must, but without an oracle and an idle agent nothing is proven.";
const CHANGED = "The directory is not the one that was built: what was proven counts for it no longer.";

/** The chip that names a task's status. */
const statusChip = (status) => make("span", { class: `status ${status}` }, status);

/** A bar for a peak in its limit, with a mark at what a task may need of it. */
function gauge(peak, limit) {
  const bar = make("span", { class: peak > SHARE * limit ? "gauge over" : "gauge", "aria-hidden": "true" });
  bar.style.setProperty("--part", Math.min(1, peak / limit));
  return bar;
}

function part(title, ...children) {
  return make("section", { class: "part" }, make("h3", {}, title), ...children);
}

function plainTable(label, heads, rows) {
  return make(
    "div",
    { class: "wide" },
    make(
      "table",
      { class: "listing", "aria-label": label },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          heads.map((head) => make("th", { scope: "col" }, head)),
        ),
      ),
      make("tbody", {}, rows),
    ),
  );
}

const cell = (...children) => make("td", {}, ...children);
const number = (...children) => make("td", { class: "number" }, ...children);

/**
 * Everything about a task.
 * @param around {back, before, next} addresses; before and next are null at the ends
 */
function taskPage(task, details, { withAnswers, catalog }, around) {
  return [
    make(
      "nav",
      { class: "steps", "aria-label": "Tasks" },
      make("a", { href: around.back, class: "back" }, "← All tasks"),
      make("span", { class: "where" }, around.where),
      step("Before", around.before, "←"),
      step("Next", around.next, "→"),
    ),
    make("h2", { id: "task-title", tabindex: "-1" }, quoted(task.name)),
    make(
      "p",
      { class: "chips" },
      statusChip(task.status),
      ...[
        ["split", task.split],
        ["tier", task.tier],
        ["answer", task.type],
        ["licence", details.license],
      ]
        .filter(([, value]) => value)
        .map(([label, value]) => make("span", { class: "chip" }, `${label} `, quoted(value, "value"))),
    ),
    instruction(details),
    make("div", { class: "columns" }, size(task, details), identity(details)),
    proof(task, details, withAnswers, catalog),
    cases(details, withAnswers),
    files(details),
  ];
}

function step(label, address, arrow) {
  return address
    ? make("a", { href: address, class: "step", "aria-label": label, title: label }, arrow)
    : make("span", { class: "step off", "aria-hidden": "true" }, arrow);
}

function instruction(details) {
  const { text, note } = whole(details.instruction);
  return part("Instruction", make("div", { class: "instruction", dir: "auto", lang: "" }, text), note);
}

function size(task, details) {
  const measured = task.peak !== null;
  return part(
    "Size",
    make(
      "dl",
      { class: "facts" },
      fact("Memory", ofMegabytes(task.memory)),
      fact(
        "Measured peak",
        measured ? `${ofMegabytes(task.peak)}, ${rounded((100 * task.peak) / task.memory)} % of it` : "not measured",
      ),
      measured ? make("div", { class: "all" }, gauge(task.peak, task.memory)) : null,
      fact("Storage", ofMegabytes(task.storage)),
      fact("Processors", ofCpus(task.cpus)),
      details.seconds ? fact("Agent's time", ofSeconds(details.seconds)) : null,
    ),
  );
}

function identity(details) {
  return part(
    "What it is",
    make(
      "dl",
      { class: "facts" },
      fact("Digest", make("code", { title: details.digest }, `${details.digest.slice(0, 23)}…`)),
      fact("Grader", details.grader),
      fact("Solution", details.program ? "a program that computes the answer" : "none: the oracle files the gold"),
      fact("Files", count(details.ofFiles)),
    ),
  );
}

function fact(name, ...value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, ...value));
}

function proof(task, details, withAnswers, catalog) {
  const { receipt } = details;
  const verdict = details.changed
    ? CHANGED
    : receipt && !receipt.green && task.status === "unproven"
      ? BEGUN
      : PROOF[task.status];
  const lead = make("p", { class: "verdict" }, statusChip(task.status), make("span", {}, verdict));
  if (!receipt) {
    const again = details.changed ? "harborwright build" : "harborwright verify";
    return part("Proof", lead, make("p", { class: "note" }, "Next: ", make("code", {}, again), ` on ${catalog}.`));
  }
  const heads = [
    "Probe",
    "Must end as",
    "Ended as",
    "Seconds",
    "Peak memory",
    ...(withAnswers ? ["What was said"] : []),
  ];
  return part(
    "Proof",
    lead,
    plainTable(
      "Trials",
      heads,
      receipt.trials.map((trial) => trialRow(trial, withAnswers)),
    ),
    firstOf(receipt.trials.length, receipt.ofTrials, "trial"),
    make(
      "p",
      { class: "note" },
      `Finished ${moment(receipt.finished)} with Harbor ${receipt.harbor} on ${receipt.machine}.`,
      withAnswers ? "" : " What the grader said of each trial may name the answer, and is not in this file.",
    ),
  );
}

/** A time as ISO 8601 has it, as people read it; what is none stays as it is. */
function moment(text) {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+00:00|Z)$/.test(text)
    ? `${text.slice(0, 10)}, ${text.slice(11, 16)} UTC,`
    : text;
}

function trialRow(trial, withAnswers) {
  const ended = trial.reward === null ? `ungraded${trial.cause ? `: ${trial.cause}` : ""}` : rounded(trial.reward, 3);
  const said = whole(trial.detail);
  return make(
    "tr",
    { class: trial.met ? "met" : "unmet" },
    make("th", { scope: "row" }, quoted(trial.probe)),
    cell(trial.expected),
    cell(
      make("span", { class: `mark ${trial.met ? "met" : "unmet"}` }, ended),
      make("span", { class: "hearable" }, trial.met ? ", as it must" : ", not as it must"),
    ),
    number(rounded(trial.seconds, 2)),
    number(trial.peak === null ? "" : ofMegabytes(trial.peak)),
    withAnswers ? make("td", { class: "said" }, quoted(said.text), said.note) : null,
  );
}

function files(details) {
  const rows = details.files.map(([path, executable, bytes]) =>
    make(
      "tr",
      {},
      cell(quoted(path, "path"), executable ? make("span", { class: "chip" }, "program") : null),
      number(bytes === null ? make("span", { class: "dim" }, "hidden") : ofBytes(bytes)),
    ),
  );
  const hidden = details.files.some(([, , bytes]) => bytes === null);
  return part(
    "Files",
    plainTable("Files", ["Path", "Size"], rows),
    firstOf(details.files.length, details.ofFiles, "file"),
    make(
      "p",
      { class: "note" },
      "An agent's box never has tests/ and solution/.",
      hidden ? " Their sizes are not in this file: an answer's length is a hint." : "",
    ),
  );
}
