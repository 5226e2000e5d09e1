import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

const path = fileURLToPath(new URL("../page/theme.js", import.meta.url));

// load runs the script in a page whose system is dark or not.
function load(stored, dark) {
  const system = Object.assign(new EventTarget(), { matches: dark });
  const html = { dataset: {} }, page = new EventTarget();
  let changes = 0;
  page.addEventListener("themechange", () => changes++);
  runInNewContext(readFileSync(path, "utf8"), {
    matchMedia: () => system, document: { documentElement: html }, Event,
    localStorage: { getItem: (key) => stored[key] ?? null, setItem: (key, value) => (stored[key] = value) },
    addEventListener: page.addEventListener.bind(page), dispatchEvent: page.dispatchEvent.bind(page),
  }, path);
  return { system, html, toggle: () => page.dispatchEvent(new Event("toggletheme")), changes: () => changes };
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
