// Makes elements out of values. Every text is set as text, never as markup, with what cannot be seen made visible: a
// question may hold tags, control characters, or marks that turn the direction of a line.
"use strict";

// Control, format and private characters and halves of pairs, but for line ends, tabs and the joiners of scripts.
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu;

/** A text with what cannot be seen in it written out. */
function seen(text) {
  return String(text).replace(
    UNSEEN,
    (letter) => `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : name === "href" ? value : seen(value));
  }
  element.append(
    ...children
      .flat()
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : seen(child))),
  );
  return element;
}

/** An HTML element with attributes (or listeners, by "onclick"), and children: elements or texts. */
function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** An SVG element, as `make` makes HTML. */
function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

/** Somebody's text, set apart from the direction of what stands around it. */
function quoted(text, className) {
  return make("bdi", { class: className }, text);
}

const byId = (id) => document.getElementById(id);

const count = (number) => number.toLocaleString("en-US");
const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const rounded = (number, digits = 1) => number.toLocaleString("en-US", { maximumFractionDigits: digits });
const ofMegabytes = (mb) => (mb < 1024 ? `${rounded(mb, mb < 10 ? 1 : 0)} MB` : `${rounded(mb / 1024, 2)} GB`);
const ofCpus = (cpus) => counted(cpus, "CPU");

function ofBytes(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit += 1) bytes /= 1000;
  return unit === 0 ? counted(bytes, "byte") : `${rounded(bytes)} ${units[unit]}`;
}

function ofSeconds(seconds) {
  return seconds < 120 ? `${rounded(seconds)} s` : `${rounded(seconds / 60)} min`;
}

/** A text that may have been cut when the report was written: its characters, and a note where there were more. */
function whole(told) {
  if (told === null || typeof told !== "object") return { text: told ?? "", note: null };
  const note = `The first ${count(told.text.length)} of ${count(told.of)} characters; the file on disk has all.`;
  return { text: told.text, note: make("p", { class: "note" }, note) };
}

/** A note where of many things only the first are in this file. */
function firstOf(shown, all, noun) {
  return all > shown
    ? make("p", { class: "note" }, `The first ${count(shown)} of ${counted(all, noun)}; this file has no more.`)
    : null;
}
