// Texts that do not stand out from the ground they stand on (WCAG 2.2: 4.5 to 1), over all views of the report.
() => {
  for (const view of document.querySelectorAll(".view")) view.hidden = false;
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) =>
    [r, g, b]
      .map((c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] === 255) return c;
    }
    return [255, 255, 255];
  };
  const weak = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName) || !e.checkVisibility())
      continue;
    const style = getComputedStyle(e);
    const [one, other] = [light(rgba(e instanceof SVGElement ? style.fill : style.color)), light(ground(e))].sort(
      (a, b) => b - a,
    );
    if ((one + 0.05) / (other + 0.05) < 4.5)
      weak.add(`${e.tagName} ${e.className.baseVal ?? e.className}: ${texts.currentNode.data.slice(0, 20)}`);
  }
  return [...weak];
};
