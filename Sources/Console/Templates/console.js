"use strict";
// Live parts of the pages. Without this script every page works: it is then loaded anew from time to time.

// The list of decisions, which follows a stream.
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
    `/why?device=${encodeURIComponent(decision.device)}&event=${encodeURIComponent(decision.event)}`
    + `&instance=${encodeURIComponent(decision.instance)}`;

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

// Pages that are asked for anew after some seconds. Only what differs is changed, in place, so that nothing jumps: the focus, the
// positions, the selected text and what somebody has begun to type stay.
(() => {
  const main = document.querySelector("main[data-refresh]");
  const state = document.getElementById("refresh-state");
  if (!main || main.dataset.stream || !window.fetch) return;
  const failuresMax = 3;

  const isField = (node) => ["INPUT", "SELECT", "TEXTAREA"].includes(node.nodeName);
  // A field that nobody has changed follows the page.
  const isOwn = (field) => {
    if (field === document.activeElement) return false;
    if (field.nodeName !== "SELECT") return field.value === field.defaultValue;
    const chosen = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex === Math.max(0, chosen);
  };
  // The name by which an element of the old page is found again in the new one. Ids are numbered by place, so they tell nothing.
  const key = (node) => {
    const of = (name) => `${node.nodeName} ${name}`;
    if (isField(node) || node.nodeName === "BUTTON") return of(node.name);
    if (node.nodeName === "FORM") return of(node.getAttribute("action"));
    if (node.nodeName === "SECTION") return of(node.querySelector("h2")?.textContent);
    if (node.nodeName === "TR") return of(node.cells[0]?.textContent);
    if (node.className === "field") return of(node.querySelector("[name]")?.name);
    if (node.nodeName === "DIV") return of(node.querySelector("caption")?.firstChild?.textContent);
    return of("");
  };

  const patch = (old, now) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== now.nodeValue) old.nodeValue = now.nodeValue;
      return;
    }
    const follows = isField(old) && isOwn(old);
    if (isField(old) && !follows) return;
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (old.nodeName === "svg") {
      if (old.innerHTML !== now.innerHTML) old.replaceChildren(...now.childNodes);
      return;
    }
    patchChildren(old, now);
    if (follows && old.nodeName !== "SELECT" && old.type !== "file") old.value = old.defaultValue;
  };

  const patchChildren = (old, now) => {
    const wanted = new Map();
    for (const node of now.childNodes) wanted.set(key(node), (wanted.get(key(node)) || 0) + 1);
    const known = new Map();
    for (const node of [...old.childNodes]) {
      const left = wanted.get(key(node)) || 0;
      wanted.set(key(node), left - 1);
      if (left <= 0) node.remove();
      else if (known.has(key(node))) known.get(key(node)).push(node);
      else known.set(key(node), [node]);
    }
    let place = old.firstChild;
    for (const node of [...now.childNodes]) {
      const same = known.get(key(node))?.shift();
      if (same === place && same) place = place.nextSibling;
      else old.insertBefore(same || node, place);
      if (same) patch(same, node);
    }
  };

  const show = (page) => {
    const next = page.querySelector("main");
    const focused = main.contains(document.activeElement) && document.activeElement !== main ? document.activeElement : null;
    const before = focused?.getBoundingClientRect();
    // The element with the focus stays where it is in the window. Without one in sight, the browser keeps what is at its upper edge.
    const isSeen = before && before.bottom > 0 && before.top < innerHeight;
    const root = document.documentElement;
    if (isSeen) root.style.overflowAnchor = "none";
    patch(main, next);
    document.title = page.title;
    // An element that changes its place loses the focus; one that is gone leaves it to the content.
    if (focused && focused !== document.activeElement) {
      (focused.isConnected ? focused : main).focus({ preventScroll: true });
    }
    if (isSeen && focused.isConnected) scrollBy({ top: focused.getBoundingClientRect().top - before.top, behavior: "instant" });
    requestAnimationFrame(() => { root.style.overflowAnchor = ""; });
  };

  const say = (text) => { if (state && state.textContent !== text) state.textContent = text; };
  let failures = 0;
  let isAsking = false;
  let isDue = false;
  let timer;
  const plan = () => {
    clearTimeout(timer);
    const seconds = Number(main.dataset.refresh);
    if (seconds) timer = setTimeout(ask, seconds * 1000);
  };
  const end = (text) => {
    delete main.dataset.refresh;
    say(text);
  };
  const ask = async () => {
    isDue = document.hidden;
    if (isDue || isAsking || !main.dataset.refresh) return;
    isAsking = true;
    try {
      const options = { headers: { accept: "text/html" }, cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(30000) };
      const answer = await fetch(location.href, options);
      if (answer.type === "opaqueredirect") return end("No longer kept up to date: you are signed out. Load the page anew.");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      // A refusal may pass. One that stays is a page, too, which says what is wrong.
      if (!answer.ok && (failures < failuresMax - 1 || !page.querySelector("main"))) throw new Error(`status ${answer.status}`);
      show(page);
      if (!answer.ok) return end("No longer kept up to date: the console refuses this page. Load the page anew.");
      failures = 0;
      say("");
    } catch (error) {
      failures += 1;
      const reason = `the console does not answer (${error.message})`;
      if (failures >= failuresMax) return end(`No longer kept up to date: ${reason}. Load the page anew.`);
      say(`Not up to date: ${reason}. It is asked again.`);
    } finally {
      isAsking = false;
    }
    plan();
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && isDue) ask(); });
  plan();
})();
