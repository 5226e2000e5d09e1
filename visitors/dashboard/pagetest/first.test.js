import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import "./browser.js"; // WebSocket

const path = fileURLToPath(new URL("../page/first.js", import.meta.url));

// storage keeps texts in an object. A storage that is refused throws instead.
const storage = (stored) => ({ getItem: (key) => stored[key] ?? null, setItem: (key, value) => (stored[key] = value) });

// load runs the script in a page whose system is dark or not. storages are properties of its window.
function load(stored, dark, { offer = "", shown = null, storages, baseURI = "https://robot.example/", HTMLScriptElement, fetch = async (path) => path } = {}) {
  const system = Object.assign(new EventTarget(), { matches: dark });
  const html = { dataset: {} }, page = new EventTarget();
  const body = { textContent: "" };
  const document = Object.assign(new EventTarget(), { documentElement: html, body, baseURI, getElementById: () => ({ textContent: offer }) });
  const window = {};
  let changes = 0;
  page.addEventListener("themechange", () => changes++);
  runInNewContext(readFileSync(path, "utf8"), Object.defineProperties({
    window, matchMedia: () => system, document,
    Event, URL, URLSearchParams, WebSocket, fetch, HTMLScriptElement,
    addEventListener: page.addEventListener.bind(page), dispatchEvent: page.dispatchEvent.bind(page),
  }, storages ?? { localStorage: { value: storage(stored) }, sessionStorage: { value: storage({ shown }) } }), path);
  const parsed = () => document.dispatchEvent(new Event("readystatechange"));
  const fail = (target) => {
    const event = new Event("error");
    Object.defineProperty(event, "target", { value: target });
    page.dispatchEvent(event);
  };
  return { first: window.first, body, fail, parsed, system, html, toggle: () => page.dispatchEvent(new Event("toggletheme")), changes: () => changes };
}

test("the theme is that of the system, and follows it", () => {
  const { system, html, changes } = load({}, true);
  assert.equal(html.dataset.theme, "dark");
  system.matches = false;
  system.dispatchEvent(new Event("change"));
  assert.equal(html.dataset.theme, "light");
  assert.equal(changes(), 2);
});

test("what the user chose is kept", () => {
  const stored = {}, { html, toggle } = load(stored, true);
  toggle();
  assert.equal(html.dataset.theme, "light");
  assert.equal(load(stored, true).html.dataset.theme, "light");
  toggle();
  assert.equal(stored.theme, "dark");
  assert.equal(load(stored, false).html.dataset.theme, "dark");
});

const refusing = (get) => ({ localStorage: { get }, sessionStorage: { get } });
const refused = {
  "throws": refusing(() => { throw new DOMException("The operation is insecure.", "SecurityError"); }),
  "has no storage": refusing(() => null),
  "is full": refusing(() => ({ getItem: () => null, setItem() { throw new DOMException("full", "QuotaExceededError"); } })),
  "cannot read": refusing(() => ({ getItem() { throw new Error("disk"); }, setItem() { throw new Error("disk"); } })),
};
for (const [name, storages] of Object.entries(refused)) {
  test(`a browser that keeps nothing: it ${name}`, () => {
    const page = load({}, true, { offer: offer(7, true), storages });
    assert.deepEqual(opened(page), ["/streamlocalhost:6665", "/presence", "/world"]);
    page.toggle(); // holds until the page is closed
    assert.equal(page.html.dataset.theme, "light");
    assert.equal(page.first.kept("robots"), null);
    page.first.keep("robots", `["far:6665"]`);
    assert.equal(page.first.kept("robots"), `["far:6665"]`);
  });
}

test("a theme that another program has stored is none", () => assert.equal(load({ theme: "5" }, true).html.dataset.theme, "dark"));

const offer = (count, world) => JSON.stringify({ world, robots: Array.from({ length: count }, (_, i) => ({ address: `localhost:${6665 + i}` })) });
const opened = ({ first }) => [...first.opened.keys()].map((address) => {
  const { protocol, host, pathname, searchParams } = new URL(address);
  assert.deepEqual([protocol, host, searchParams.get("page")], ["wss:", "robot.example", first.page]);
  return pathname + (searchParams.get("robot") ?? "");
});

test("sockets are opened before the modules are here", async () => {
  const page = load({}, true, { offer: offer(2, true) });
  assert.deepEqual(opened(page), ["/streamlocalhost:6665", "/streamlocalhost:6666", "/presence", "/world"]);
  assert.equal(page.first.plan, undefined); // the modules come first
  page.parsed();
  assert.equal(await page.first.plan, "plan");
  const stream = new URL([...page.first.opened.keys()][0]);
  assert.deepEqual([stream.searchParams.get("rate"), stream.searchParams.get("request")], ["20", "prlrsrmrgrzrvr"]);
});

test("of many robots only the one that is shown is watched", () => {
  assert.deepEqual(opened(load({}, true, { offer: offer(7, false) })), ["/streamlocalhost:6665", "/presence"]);
  const shown = load({}, true, { offer: offer(7, false), shown: "localhost:6670" });
  assert.deepEqual(opened(shown), ["/streamlocalhost:6670", "/presence"]);
  assert.equal(shown.first.plan, undefined);
  assert.deepEqual(opened(load({}, true, { offer: offer(7, false), shown: "far:6665" })), ["/presence"]);
});

test("below a path of a proxy the sockets are there, too", () => {
  for (const [baseURI, want] of [
    ["http://robot.example:8080/", "ws://robot.example:8080/presence?"],
    ["https://fleet.example/robot1/", "wss://fleet.example/robot1/presence?"],
    ["https://fleet.example/robot1/?x=http#here", "wss://fleet.example/robot1/presence?"],
  ]) {
    const { first } = load({}, true, { baseURI });
    assert.equal(first.address("presence").split("page=")[0], want);
    assert.equal(new URL(first.address("stream", { robot: "a&b" })).searchParams.get("robot"), "a&b");
  }
});

test("a page without its modules says why", async () => {
  class HTMLScriptElement extends EventTarget {}
  for (const [reply, want] of [
    [{ status: 403, text: async () => "pages of x may not use this server\n" }, "The server refuses this page: pages of x may not use this server\n"],
    [{ status: 405, text: async () => "Method Not Allowed" }, "Reload this page."],
    [null, "Reload this page."],
  ]) {
    const requests = [], page = load({}, true, { HTMLScriptElement, fetch: async (path, { method }) => {
      requests.push(`${method} ${path}`);
      if (!reply) throw new TypeError("Failed to fetch");
      return reply;
    } });
    page.fail(new EventTarget()); // a picture
    page.fail(new HTMLScriptElement());
    await new Promise((done) => setImmediate(done));
    assert.deepEqual([page.body.textContent, requests], [want, ["POST robots"]]);
  }
});

test("who may not read opens nothing", () => assert.deepEqual(opened(load({}, true)), []));
