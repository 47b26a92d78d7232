// What has the focus: its tag, what it is called, and whether that is seen.
() => {
  const e = document.activeElement,
    style = getComputedStyle(e);
  const seen = style.outlineStyle !== "none" || getComputedStyle(e.closest(".scroller") ?? e).outlineStyle !== "none";
  return [e.tagName, e.id || e.getAttribute("aria-label") || e.innerText, seen];
};
