// Controls that have no name to be heard.
() =>
  [...document.querySelectorAll("button, input, select, a")]
    .filter((e) => !(e.innerText || e.labels?.length || e.ariaLabel))
    .map((e) => e.outerHTML);
