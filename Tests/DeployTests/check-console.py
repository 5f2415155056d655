#!/usr/bin/env python3
"""Drives the console's pages in a real browser, while the demo plays a day.

usage: check-console.py ROUSE FOLDER

ROUSE is the program, FOLDER gets pictures of the pages. It checks, page by page, in both colour schemes, narrow and wide: that axe finds no
serious fault, that nothing is written to the browser's console, that no request leaves the host, and that nothing is wider than the page.
Then, by the keyboard alone, it asks why from the overview in three clicks, goes from a device to an event and to its trial, applies a policy, and
replays a dead letter. It sees the list of decisions move and the overview change in place, compares two policies, tries an event and sees how many
devices listen, shows a report of a simulation from a file, sends a form through a proxy, and signs in and out with a key.
It needs chromedriver, chromium and kcat, and the package axe-core-python.
"""
import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from base64 import b64decode

ROUSE, FOLDER = sys.argv[1], sys.argv[2]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
TAB, ENTER = "\ue004", "\ue007"
# The most links from the overview to an explanation.
CLICKS_MAX = 3
# The largest size of a page.
PAGE_BYTES_MAX = 200_000
# A page about something that is not there, whose status 404 the browser writes down.
NOTHING = "/nothing-here"
faults = []


def wait(what, condition, seconds=600):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise SystemExit(f"waited {seconds} s in vain: {what}")


# Threads of a test runner block signals, and what they start inherits that: SIGTERM and SIGINT would end nothing.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
# Nothing here may wait for ever: what was begun is ended, and the check fails.
signal.signal(signal.SIGALRM, lambda *_: sys.exit("the check was not done after half an hour"))
signal.alarm(1800)


class Browser:
    """A browser behind chromedriver, by the protocol of the W3C."""

    def __init__(self):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found[1]
                break
        if port is None:
            raise SystemExit("chromedriver did not start")
        self.url = f"http://127.0.0.1:{port}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        always = {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self.url += "/" + self.call("POST", "", {"capabilities": {"alwaysMatch": always}})["sessionId"]
        # Bounds for a browser that hangs. The rules of accessibility took more than 30 s on a busy machine.
        self.call("POST", "/timeouts", {"script": 300000, "pageLoad": 300000})

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=330) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.read().decode()[:600]}") from error

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click", {})

    def keys(self, text):
        steps = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})

    def address(self):
        return self.call("GET", "/url")

    def logs(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def picture(self, name):
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(b64decode(self.call("GET", "/screenshot")))

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def end(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.kill()
            self.driver.wait(30)


def expect(condition, what):
    if not condition:
        faults.append(what)
        print("FAULT:", what, flush=True)


def check_page(browser, path, axe):
    """Looks at one page in all four forms."""
    if browser.address() != BASE + path:
        browser.open(BASE + path)
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        for width in (360, 1280):
            browser.size(width, 900)
            place = f"{path}, {scheme}, {width} px"
            wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            expect(wide <= 0, f"{place}: the page is {wide} px wider than the window")
            found = browser.run(axe + "; return axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
            for violation in found:
                if violation["impact"] in ("serious", "critical"):
                    nodes = "; ".join(node["html"][:150] for node in violation["nodes"][:3])
                    expect(False, f"{place}: axe {violation['id']}: {violation['help']}: {nodes}")
    tables = browser.run("return [document.querySelectorAll('table').length, document.querySelectorAll('caption .csv').length]")
    expect(tables[0] == tables[1], f"{path}: {tables[0]} tables with {tables[1]} ways to their CSV")
    # A figure to read, not a check: how long the console took for the page.
    took = browser.run("const n = performance.getEntriesByType('navigation')[0]; return [n.responseEnd - n.requestStart, n.decodedBodySize]")
    print(f"{took[0]:6.0f} ms {took[1]:8.0f} bytes  {path}", flush=True)
    titles = browser.run("return [...document.querySelectorAll('h1')].map(e => e.textContent)")
    expect(len(titles) == 1 and titles[0], f"{path}: one heading of the first level, found {titles}")


def check_logs(browser, host):
    """Reads what the browser wrote, and where it sent requests."""
    for entry in browser.logs("browser"):
        if entry["level"] == "SEVERE" and not re.match(rf"http://{re.escape(host)}{NOTHING} .* status of 404 ", entry["message"]):
            expect(False, f"the browser wrote: {entry['message'][:300]}")
    for entry in browser.logs("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            allowed = url.startswith((f"http://{host}/", "data:", "chrome", "about:"))
            expect(allowed, f"a request left the host: {url[:200]}")


def keyboard(browser):
    """Asks why from the overview by the keyboard alone: three links at most, each reached by the tab key."""
    browser.open(BASE + "/")
    browser.keys(TAB)
    expect(browser.run("return document.activeElement.className") == "skip", "the first tab stop skips to the content")
    clicks = 0
    while not browser.address().startswith(BASE + "/why"):
        if clicks == CLICKS_MAX:
            return expect(False, f"why is not reached in {CLICKS_MAX} clicks: they lead to {browser.address()}")
        # Straight to the explanation where the page leads there, and otherwise by the list of decisions.
        target = tab_to(browser, "/why?") or tab_to(browser, "/decisions")
        if not target:
            return expect(False, f"no link to an explanation or to decisions is reached by the tab key on {browser.address()}")
        browser.keys(ENTER)
        clicks += 1
        wait(f"the page {target}", lambda: browser.address().startswith(BASE + target.split("?")[0]))
        wait(f"the heading of {target}", lambda: browser.run("return document.readyState === 'complete' && !!document.querySelector('h1')"))
    text = browser.run("return document.querySelector('main').innerText")
    expect("What to do" in text, f"why, {clicks} clicks from the overview, says what to do: {text[:200]}")
    print(f"{clicks} clicks from the overview to why", flush=True)


def tab_to(browser, wanted, of="getAttribute('href')"):
    """Moves the focus from the content to the first element of which something begins as wanted, by default the target of a link. Returns it; None
    if there is none."""
    browser.run("document.getElementById('main').focus()")
    for _ in range(120):
        browser.keys(TAB)
        found = browser.run(f"return document.activeElement.{of} || ''")
        if found.startswith(wanted):
            # A browser that had no turn for a while shows it late.
            outline = "return getComputedStyle(document.activeElement).outlineStyle"
            wait(f"the element {found[:80]} shows that it has the focus", lambda: browser.run(outline) != "none")
            return found
    return None


def press(browser, wanted):
    """Presses a button by the keyboard alone."""
    if tab_to(browser, wanted, of="textContent"):
        browser.keys(ENTER)
    else:
        expect(False, f"the button '{wanted}' is reached by the tab key on {browser.address()}")


def follow(browser, wanted):
    """Follows a link by the keyboard alone."""
    target = tab_to(browser, wanted)
    if not target:
        return expect(False, f"a link to {wanted} is reached by the tab key on {browser.address()}")
    browser.keys(ENTER)
    wait(f"the page {target}", lambda: target.split("?")[0] in browser.address() and browser.run(
        "return document.readyState === 'complete' && !!document.querySelector('h1')"))


def around(browser):
    """Goes by the keyboard alone from the list of decisions to a device, to one of its events, and to the page on which that is tried."""
    browser.open(BASE + "/decisions?verdict=emit")
    for wanted in ("/devices/", "/events/", "/try?event="):
        follow(browser, wanted)
    event = browser.run("return JSON.parse(document.querySelector('textarea').value)")
    expect(event["id"] != "1" and event["source"] == "", f"the event is to be completed: {event}")


def live(browser):
    """Sees new decisions arrive, if the console has a stream."""
    browser.open(BASE + "/decisions")
    stream = browser.run("return document.querySelector('main').dataset.stream")
    if not stream:
        return expect(False, "the list of decisions has a stream")
    wait("a decision that arrives by itself", lambda: browser.run("return document.querySelectorAll('#live tr.new').length > 0"))
    state = browser.run("return document.getElementById('live-state').textContent")
    expect(state.startswith("live"), f"the state of the list is '{state}'")


# Runs before the scripts of each page: timers are fast, and a test may hide the page, break its requests, and count both.
FAST = """
(() => {
  const [set, clear, ask] = [window.setTimeout, window.clearTimeout, window.fetch];
  const pending = new Set();
  window.pending = pending;
  window.asked = 0;
  window.isAway = location.pathname === "/try";
  window.setTimeout = (body, ms) => {
    const timer = set(() => { pending.delete(timer); body(); }, ms / 30);
    pending.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => { pending.delete(timer); clear(timer); };
  window.fetch = (...words) => {
    window.asked += 1;
    return window.isBroken ? Promise.reject(new Error("broken by the test")) : ask(...words);
  };
  Object.defineProperty(document, "hidden", { get: () => window.isAway });
  document.addEventListener("readystatechange", () => {
    if (location.pathname === "/try" && document.readyState === "interactive") document.querySelector("main").dataset.refresh = "2";
  });
})();
"""


def moving(browser):
    """Sees the overview change in place: the focus and positions stay, a hidden page rests, and one without answers says so."""
    hook = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=FAST)["identifier"]
    browser.size(360, 600)
    browser.open(BASE + "/")
    hours = "[...document.querySelectorAll('caption')].find(c => c.textContent.startsWith('The same by hour')).parentNode"
    browser.run(f"const t = {hours}; t.parentNode.scrollLeft = 30; window.link = t.tBodies[0].rows[1].querySelector('a'); link.focus();"
                "window.first = t.tBodies[0].rows[0].cells[0].textContent; window.was = [link.textContent, link.getBoundingClientRect().top]")
    wait("an hour that arrives by itself", lambda: browser.run(f"return {hours}.tBodies[0].rows[0].cells[0].textContent !== first"))
    state = browser.run(f"return [document.activeElement === link, link.textContent === was[0], {hours}.parentNode.scrollLeft,"
                        " Math.round(link.getBoundingClientRect().top - was[1])]")
    expect(state[:3] == [True, True, 30], f"the focus and the position in the table stay: {state}")
    expect(abs(state[3]) <= 2, f"the page does not jump: {state}")
    browser.run("window.isAway = true")
    wait("a hidden page that rests", lambda: browser.run("return pending.size === 0"))
    browser.run("window.before = asked; window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))")
    wait("a page that is shown again and asks", lambda: browser.run("return asked > before"))
    browser.run("window.isBroken = true; window.before = asked")
    words = wait("the word that it has stopped", lambda: browser.run(
        "const s = document.getElementById('refresh-state'); return s.offsetHeight > 20 && s.textContent.startsWith('No longer') && s.textContent"))
    expect("broken by the test" in words, f"the reason is named: {words}")
    # A request that was under way when the others broke may still have been answered.
    state = browser.run("return [pending.size, asked - before]")
    expect(state[0] == 0 and state[1] == 3, f"it asks three times, and not again: {state}")
    browser.size(1280, 900)
    browser.open(BASE + "/try")
    browser.run("const [event, policy] = document.querySelectorAll('textarea'); event.focus(); event.setSelectionRange(0, 0);"
                "policy.textContent = ''; document.querySelector('h1').textContent = 'old'")
    browser.keys("half")
    browser.run("window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))")
    wait("the answer of the brokers", lambda: browser.run("return document.querySelector('h1').textContent === 'Try an event'"))
    state = browser.run("const [event, policy] = document.querySelectorAll('textarea');"
                        "return [event.value.startsWith('half{'), document.activeElement === event, event.selectionStart, policy.value.includes('kinds:')]")
    expect(state == [True, True, 4, True], f"what is typed stays, and the other field is filled: {state}")
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)


def policy(browser):
    """Shows the mistakes of a policy, compares a valid one, and applies it."""
    def page():
        browser.open(BASE + "/policy")
        return "In force: version" in browser.run("return document.body.innerText")
    wait("the policy in force", page)
    before = browser.run("return document.querySelector('textarea').value")
    def put(text):
        """Pastes a policy, and has it checked by the keyboard alone."""
        expect(tab_to(browser, "field-", of="id"), "the text of the policy is reached by the tab key")
        browser.run("document.activeElement.value = arguments[0]", text)
        press(browser, "Check and compare")
    put(before.replace("version:", "versionn:", 1))
    wait("the mistakes", lambda: "Not valid" in browser.run("return document.body.innerText"))
    expect("versionn" in browser.run("return document.querySelector('table').innerText"), "the mistake is named")
    # The name of the version alone makes no difference to any value.
    after = re.sub(r"perDay: \d+", "perDay: 33", re.sub(r"version:.*", "version: from-the-console", before, count=1), count=1)
    put(after)
    wait("the comparison", lambda: "What would change" in browser.run("return document.body.innerText"))
    expect("33" in browser.run("return document.querySelector('table').innerText"), "the change is named")
    press(browser, "Apply")
    wait("that it was applied", lambda: "is in force from" in browser.run("return document.body.innerText"))
    def applied():
        browser.open(BASE + "/policy")
        return "version from-the-console" in browser.run("return document.querySelector('.lead').innerText")
    wait("the new policy in force", applied)


def history(browser, axe):
    """Looks at the policies that were applied, and at what the newest one changed."""
    def page():
        browser.open(BASE + "/policy")
        return browser.run("return !!document.querySelector('a[href^=\"/policy/difference\"]')")
    wait("two policies in the history", page)
    check_page(browser, "/policy", axe)
    browser.click('a[href^="/policy/difference"]')
    wait("the difference", lambda: "Values that differ" in browser.run("return document.body.innerText"))
    expect("33" in browser.run("return document.querySelector('table').innerText"), "the difference names the change")
    check_page(browser, browser.address()[len(BASE):], axe)
    browser.open(BASE + "/policy")
    browser.click('a[href^="/policy/records/"]')
    wait("the policy", lambda: "Each value with its origin" in browser.run("return document.body.innerText"))
    check_page(browser, browser.address()[len(BASE):], axe)


def health(browser):
    """Looks for the roles of the demo's process, and for the restores of its partitions."""
    browser.open(BASE + "/health")
    rows = browser.run("return [...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")
    for role in ("intake", "planner", "audit"):
        expect(any(row[0] == role and row[2] == "yes" for row in rows), f"the role {role} is ready")
    expect(any("planning" in row and "topic" in row for row in rows), "a partition was restored from the topic")


def interesting(broker):
    """A subject that a device listens to."""
    read = ["kcat", "-b", broker, "-C", "-t", "rouse.devices", "-o", "beginning", "-e", "-q"]
    records = subprocess.run(read, capture_output=True, text=True, check=True).stdout.splitlines()
    keys = [key for record in records for widget in json.loads(record)["widgets"] for key in widget["interests"]]
    return next(key for key in keys if key.startswith("flight/"))


def publish(broker, event):
    """Publishes a text to the topic of events."""
    topics = subprocess.run(["kcat", "-b", broker, "-L", "-J"], capture_output=True, text=True, check=True).stdout
    names = [topic["topic"] for topic in json.loads(topics)["topics"]]
    topic = next(name for name in names if not name.startswith(("rouse.", "__")))
    subprocess.run(["kcat", "-b", broker, "-P", "-t", topic], input=event, text=True, check=True, capture_output=True)


def hostile(browser, broker):
    """Sees a decision arrive by itself whose event has markup in its names: it is shown as text."""
    browser.open(BASE + "/try")
    event = browser.run("return JSON.parse(document.querySelector('textarea').value)")
    name = "<img src=x onerror=\"document.title='hit'\"><script>document.title='hit'</script>"
    # The time of the replayed day: with today's, the pipeline would leave that day.
    with urllib.request.urlopen(BASE + "/v1/decisions?limit=1&format=ndjson") as answer:
        newest = json.loads(answer.read())
    event.update(id=name, source="/<i>hostile</i>", subject=interesting(broker), time=newest["at"])
    browser.open(BASE + "/decisions")
    wait("the stream", lambda: browser.run("return document.getElementById('live-state').textContent.startsWith('live')"))
    publish(broker, json.dumps(event))
    row = "[...document.querySelectorAll('#live tr.new')].find(r => r.innerHTML.includes('onerror'))"
    text = wait("the decision about the hostile event", lambda: browser.run(f"const r = {row}; return r && r.innerText"))
    expect("<img" in text, f"the name of the event is shown as it is: {text}")
    state = browser.run(f"return [document.title, {row}.querySelectorAll('img, script, i').length]")
    expect(state[0] != "hit" and state[1] == 0, f"markup of an event is not markup of the page: {state}")
    browser.open(BASE + "/decisions")


def attempt(browser, broker, axe):
    """Tries an event about something that a device listens to."""
    subject = interesting(broker)
    browser.open(BASE + "/try")
    browser.run("const t = document.querySelector('textarea'); const e = JSON.parse(t.value); e.subject = arguments[0];"
                "t.value = JSON.stringify(e)", subject)
    press(browser, "Try")
    words = wait("the number of devices", lambda: re.search(r"It would reach ([\d,]+) devices?, by the registrations", browser.run("return document.body.innerText")))
    expect(words[1] != "0", f"devices listen to {subject}")
    address = browser.run("return [...document.querySelectorAll('main a')].map(a => a.getAttribute('href')).find(a => a.startsWith('/try?document='))")
    expect(address is not None, "the attempt has an address")
    browser.open(BASE + (address or "/try"))
    expect("It would reach" in browser.run("return document.body.innerText"), "the address of the attempt has its result")
    check_page(browser, "/try", axe)


def signed_in(browser, broker, axe):
    """Signs in with a key by the keyboard alone, goes where the address led, sends a form after the session has ended, and signs out."""
    keys = os.path.join(FOLDER, "keys.json")
    made = json.loads(subprocess.run(
        [ROUSE, "keys", "create", "--role", "operator", "--file", keys, "--format", "json"], capture_output=True, text=True, check=True).stdout)
    secret = next(value for value in made.values() if isinstance(value, str) and value.startswith("rouse_"))
    settings = [
        "roles=console", f"kafka.bootstrapServers={broker}", "topics.events=events", "console.listen=127.0.0.1:0", f"console.keys={keys}",
        f"audit.store={os.path.join(FOLDER, 'none.sqlite')}", "http.listen=off",
    ]
    console = subprocess.Popen(
        [ROUSE, "run"] + [word for setting in settings for word in ("--set", setting)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        place = None
        for line in console.stderr:
            place = re.search(r"address=(http://127\.0\.0\.1:\d+)", line)
            if place and "console" in line:
                break
        expect(place is not None, "a console with keys tells its address")
        base = place[1]
        threading.Thread(target=console.stderr.read, daemon=True).start()
        browser.open(base + "/try")
        expect(browser.address().startswith(base + "/sign-in"), "without a session there is the sign-in")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            found = browser.run(axe + "; return axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
            serious = [violation["id"] for violation in found if violation["impact"] in ("serious", "critical")]
            expect(serious == [], f"sign-in, {scheme}: axe {serious}")
        expect(tab_to(browser, "field-", of="id"), "the field of the key is reached by the tab key")
        browser.keys(secret + ENTER)
        wait("the page that was asked for", lambda: browser.address() == base + "/try")
        # The page may change in place when the policy is known, but not while somebody types into it.
        expect(tab_to(browser, "field-", of="id"), "the event is reached by the tab key")
        browser.run("for (const area of document.querySelectorAll('textarea')) area.value = 'typed by hand'")
        browser.call("DELETE", "/cookie")
        press(browser, "Try")
        wait("that the session has ended", lambda: "what you typed is not lost" in browser.run("return document.body.innerText"))
        browser.open(base + "/try")
        tab_to(browser, "field-", of="id")
        browser.keys(secret + ENTER)
        wait("the page again", lambda: browser.address() == base + "/try")
        press(browser, "Sign out")
        wait("the sign-in", lambda: browser.address().startswith(base + "/sign-in"))
        browser.open(base + "/policy")
        expect(browser.address().startswith(base + "/sign-in"), "after the sign-out there is no session")
    finally:
        console.send_signal(signal.SIGTERM)
        try:
            console.wait(30)
        except subprocess.TimeoutExpired:
            console.kill()
        browser.logs("performance")
        browser.logs("browser")


def simulation(browser, axe):
    """Gives a report of a simulation as a file."""
    path = os.path.join(os.path.abspath(FOLDER), "report.json")
    looks = {"capturedMean": 0.97, "perDay": 0.6, "perDayWithout": 9, "perDayOptimum": 0.4}
    plans = [{"plan": name, "isPolicy": name == "mine", "wrongLooks": looks, "reloads": 20} for name in ("mine", "first come")]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"events": 9, "policies": [{"name": "mine", "decisions": 9}], "kinds": [{"kind": "A", "instances": 2, "plans": plans}]}, file)
    browser.open(BASE + "/simulation")
    browser.call("POST", f"/element/{browser.find('input[type=file]')}/value", {"text": path})
    press(browser, "Show")
    wait("the report", lambda: re.fullmatch(re.escape(BASE) + "/simulation/[0-9a-f]+", browser.address()))
    expect("first come" in browser.run("return document.querySelector('main').innerText"), "the baselines are shown")
    check_page(browser, browser.address()[len(BASE):], axe)
    os.remove(path)
    return browser.address()[len(BASE):]


def letters(browser, broker):
    """Publishes a record that intake refuses, looks at it, and replays it."""
    publish(broker, '{"specversion":"1.0","id":"<script>alert(1)</script>"}')
    def page():
        browser.open(BASE + "/dead-letters")
        return browser.run(
            "return [...document.querySelectorAll('a')].map(a => a.getAttribute('href')).find(h => /^.dead-letters.[0-9]+.[0-9]+$/.test(h))")
    follow(browser, wait("the dead letter", page))
    text = wait("the letter", lambda: browser.run("const p = document.querySelector('pre'); return p && p.textContent"))
    expect("<script>" in text, f"the letter is shown as it is: {text[:100]}")
    press(browser, "Replay")
    wait("that it was written back", lambda: "was written back to" in browser.run("return document.body.innerText"))


def proxied(browser, host):
    """Sends a form through a proxy that calls the console by another name than the browser does."""
    class Proxy(http.server.BaseHTTPRequestHandler):
        def forward(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            upstream = http.client.HTTPConnection(host, timeout=60)
            upstream.request(self.command, self.path, body, {name: value for name, value in self.headers.items() if name.lower() != "host"})
            answer = upstream.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = forward

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.open(f"http://localhost:{server.server_port}/try")
    browser.run("document.querySelector('textarea').form.requestSubmit()")
    wait("the answer through the proxy", lambda: "It would reach" in browser.run("return document.body.innerText"))
    browser.logs("performance")
    server.shutdown()


def measured(host):
    """Follows the links of all pages as the benchmark does, and looks at their size. Times are figures to read."""
    result = subprocess.run(
        [ROUSE, "bench", "console", "--port", host.split(":")[1], "--rounds", "1", "--format", "json"],
        capture_output=True, text=True, timeout=120, check=False)
    if result.returncode != 0:
        raise SystemExit(f"the benchmark of the pages failed: {result.stderr}")
    pages = json.loads(result.stdout)["pages"]
    expect(len(pages) >= 15, f"links lead to {len(pages)} sorts of pages only")
    for page in pages:
        expect(page["status"] == 200, f"{page['path']}: status {page['status']}")
        expect(page["bytes"] <= PAGE_BYTES_MAX, f"{page['path']}: {page['bytes']} bytes")


demo = subprocess.Popen(
    [ROUSE, "demo", "--devices", "60", "--speed", "700", "--stay"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
browser = None
try:
    addresses = {}
    printed = []
    for line in demo.stdout:
        printed.append(line)
        found = re.match(r"(broker|console)\s+(?:http://)?([0-9.]+:\d+)", line)
        if found:
            addresses[found[1]] = found[2]
        if line.startswith("events"):
            break
    if "console" not in addresses:
        raise SystemExit("the demo named no console:\n" + "".join(printed))
    HOST, BASE = addresses["console"], "http://" + addresses["console"]
    began = time.monotonic()
    browser = Browser()
    import axe_core_python
    with open(os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js"), encoding="utf-8") as file:
        axe = file.read()

    def some():
        with urllib.request.urlopen(BASE + "/v1/decisions?verdict=emit&limit=1&format=ndjson") as answer:
            text = answer.read().decode()
        return json.loads(text) if text.strip() else None

    decision = wait("a decision with a push", some)
    device, event, command = decision["device"], decision["event"], decision["command"]
    live(browser)
    moving(browser)
    keyboard(browser)
    around(browser)
    for path in (
        "/", "/decisions?verdict=defer", f"/devices/{device}?utc-offset=-05:00", f"/why?device={device}&event={event}",
        f"/events/{event}", f"/commands/{command}", "/search?q=device-00", "/top?by=reason", "/policy", "/try", "/simulation", "/dead-letters",
        "/health", "/access", "/why", "/sign-in", NOTHING,
    ):
        check_page(browser, path, axe)
    health(browser)
    policy(browser)
    history(browser, axe)
    attempt(browser, addresses["broker"], axe)
    hostile(browser, addresses["broker"])
    report = simulation(browser, axe)
    letters(browser, addresses["broker"])
    check_logs(browser, HOST)
    proxied(browser, HOST)
    signed_in(browser, addresses["broker"], axe)
    measured(HOST)
    browser.size(1200, 900)
    for name, path, scheme in (
        ("overview", "/", "light"), ("device", f"/devices/{device}", "dark"), ("simulation", report, "dark"),
        ("why", f"/why?device={device}&event={event}", "light"), ("event", f"/events/{event}", "dark"),
        ("policy", "/policy", "light"), ("dead-letters", "/dead-letters", "dark"), ("health", "/health", "light"),
    ):
        browser.scheme(scheme)
        browser.open(BASE + path)
        browser.picture(f"{name}.png")
    print(f"{time.monotonic() - began:.0f} s in the browser")
finally:
    if browser:
        browser.end()
    demo.send_signal(signal.SIGINT)
    try:
        demo.wait(30)
    except subprocess.TimeoutExpired:
        demo.kill()
if faults:
    raise SystemExit(f"{len(faults)} faults")
print("no fault found")
