// Light or dark.
"use strict";

/** Light or dark as the system has it, until somebody chooses. */
function colours() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem(THEME);
    } catch {
      return null; // a browser may keep nothing for a file
    }
  };
  let chosen = kept();
  const show = () => {
    const now = chosen ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now;
    byId("theme").setAttribute("aria-label", `Switch to ${now === "dark" ? "light" : "dark"} colours`);
    return now;
  };
  dark.addEventListener("change", show);
  byId("theme").addEventListener("click", () => {
    chosen = show() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(THEME, chosen);
    } catch {
      // then it lasts as long as the page
    }
    show();
  });
  show();
}
