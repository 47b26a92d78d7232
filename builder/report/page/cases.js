// How a task is graded: its gold and its cases where the file holds them, else how many there are.
"use strict";

function cases(details, withAnswers) {
  const lead =
    `${counted(details.accept, "answer")} that must pass and ${count(details.reject)} that must not; ` +
    "the grader that ships is held to each.";
  if (!withAnswers) {
    return part(
      "Grader cases",
      make("p", {}, lead),
      make(
        "p",
        { class: "note" },
        "They tell the answer, so they are not in this file; ",
        make("code", {}, "harborwright report --with-answers"),
        " puts them into one.",
      ),
    );
  }
  return part(
    "Gold and grader cases",
    plainTable("Golds", ["Gold", "Tolerance"], details.golds.map(goldRow)),
    make("p", {}, lead),
    make(
      "div",
      { class: "columns" },
      caseTable("Must pass", details.acceptCases, details.accept),
      caseTable("Must not pass", details.rejectCases, details.reject),
    ),
  );
}

function goldRow(gold) {
  const told = whole(gold.gold);
  const tolerances = [
    ["rtol", gold.rtol],
    ["atol", gold.atol],
    ["decimals", gold.decimals],
  ].filter(([, value]) => value !== null && value !== undefined);
  return make(
    "tr",
    {},
    cell(
      gold.name ? make("span", { class: "named" }, quoted(gold.name), ": ") : null,
      quoted(told.text, "answer"),
      told.note,
    ),
    cell(tolerances.map(([name, value]) => `${name} ${value}`).join(", ") || "as its type has it"),
  );
}

function caseTable(label, shown, all) {
  return make(
    "div",
    {},
    make("h4", {}, label),
    plainTable(
      label,
      ["Answer", "Why"],
      shown.map((one) => {
        const told = whole(one.answer);
        return make(
          "tr",
          {},
          cell(told.text === "" ? make("em", {}, "nothing") : quoted(told.text, "answer"), told.note),
          cell(quoted(one.why)),
        );
      }),
    ),
    firstOf(shown.length, all, "case"),
  );
}
