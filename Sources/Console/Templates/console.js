"use strict";
// Live parts of the pages. Without this script every page works: it is then loaded anew from time to time.
(() => {
  const main = document.querySelector("main[data-stream]");
  const table = document.getElementById("live");
  if (!main || !window.EventSource) return;
  const state = document.getElementById("live-state");
  const rowsMax = 200;

  // A cell with a text, and a link if there is one. Texts never become markup.
  const cell = (tag, text, options = {}) => {
    const element = document.createElement(tag);
    if (options.isNumber) element.className = "n";
    let place = element;
    if (options.href) {
      place = document.createElement("a");
      place.href = options.href;
      element.append(place);
    } else if (options.tone) {
      place = document.createElement("span");
      element.append(place);
    }
    if (options.tone) place.className = options.tone;
    place.textContent = text;
    if (tag === "th") element.scope = "row";
    return element;
  };
  const number = (value) => (value === undefined || value === null ? "" : String(Math.round(value * 1000) / 1000));
  const path = (folder, id) =>
    id === "." || id === ".." ? `${folder}?id=${encodeURIComponent(id)}` : `${folder}/${encodeURIComponent(id)}`;
  const why = (decision) =>
    `/why?device=${encodeURIComponent(decision.device)}&event=${encodeURIComponent(decision.event)}`;

  const row = (decision) => {
    const element = document.createElement("tr");
    element.className = "new";
    element.append(
      cell("th", decision.at.replace("T", " ").replace("Z", ""), { href: why(decision) }),
      cell("td", decision.verdict, { tone: decision.verdict }),
      cell("td", decision.reason, { tone: "code" }),
      cell("td", decision.device, { href: path("/devices", decision.device) }),
      cell("td", decision.event, { href: path("/events", decision.event) }),
      cell("td", decision.kind),
      cell("td", number(decision.value), { isNumber: true }),
      cell("td", number(decision.price), { isNumber: true }),
      cell("td", decision.command || "", decision.command ? { href: path("/commands", decision.command) } : {}),
    );
    return element;
  };

  const say = (text) => { if (state) state.textContent = text; };
  // A browser keeps six connections to a host, so a page that nobody looks at gives its own back.
  let source;
  let gaps;
  // The stream continues behind the newest decision of the page, and later behind the last one that came, so that nothing is missing from what
  // was stored while the page was hidden.
  const stream = new URL(main.dataset.stream, location);
  const start = () => {
    if (source) return;
    say("connecting");
    source = new EventSource(stream);
    source.onopen = () => say("live");
    source.onerror = () => {
      if (source && source.readyState === EventSource.CLOSED) {
        say("not live: the stream has ended; load the page anew");
        source = undefined;
      } else {
        say("connecting again");
      }
    };
    source.addEventListener("omitted", () => {
      say("live, with gaps: more decisions arrive than are shown");
      clearTimeout(gaps);
      gaps = setTimeout(() => say("live"), 3000);
    });
    source.addEventListener("decision", (message) => {
      if (message.lastEventId) stream.searchParams.set("cursor", message.lastEventId);
      const decision = JSON.parse(message.data);
      const body = table && table.tBodies[0];
      if (!body) return location.reload();
      body.prepend(row(decision));
      while (body.rows.length > rowsMax) body.deleteRow(-1);
    });
  };
  const stop = () => { if (source) source.close(); source = undefined; };
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  window.addEventListener("pagehide", stop);
  start();
})();
