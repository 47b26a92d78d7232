// Unpacks what the report carries: JSON in gzip in base64, some hundred tasks to a block. The table's part of every
// block is unpacked at once; the rest of a task only when it is opened.
"use strict";

const KEPT_BLOCKS = 4; // of details, so that going to the next task does not unpack again
const unpackedDetails = new Map();

async function unpack(element) {
  const letters = atob(element.textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function unpackAll(kind) {
  const found = [];
  for (const [block, element] of document.querySelectorAll(`script.${kind}`).entries()) {
    const values = await unpack(element);
    values.forEach((value, at) => found.push(Object.assign(value, { block, at })));
    element.remove();
  }
  return found;
}

/** Everything that the views share. */
async function loadCatalog() {
  const head = await unpack(document.querySelector("script.head"));
  const tasks = await unpackAll("tasks");
  const rejected = await unpackAll("rejected");
  return { ...head, tasks, rejected };
}

/** What the page of a task shows beside its row. */
async function detailsOf(task) {
  if (!unpackedDetails.has(task.block)) {
    if (unpackedDetails.size >= KEPT_BLOCKS) unpackedDetails.delete(unpackedDetails.keys().next().value);
    unpackedDetails.set(task.block, unpack(document.querySelectorAll("script.details")[task.block]));
  }
  return (await unpackedDetails.get(task.block))[task.at];
}
