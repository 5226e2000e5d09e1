import assert from "node:assert/strict";
import test from "node:test";
import { Element, element, fire } from "./browser.js";
const { Fleet } = await import("../page/fleet.js");
const { Rail } = await import("../page/rail.js");
const { Robot } = await import("../page/robot.js");

// fleet makes n robots, on ports from 6000 on.
function fleet(n) {
  const rail = new Rail(new Element(), { select() {}, pin() {}, remove() {} }, () => ({ text: "Stop", why: "" }));
  const robots = Array.from({ length: n }, (_, i) => new Robot({ name: `r${i}`, address: `localhost:${6000 + i}`, mover: i }));
  for (const robot of robots) {
    robot.here = true;
    rail.add(robot);
  }
  return { rail, robots, fleet: new Fleet(robots, rail), names: () => rail.list.children.map((card) => card.querySelector("b").textContent) };
}

test("few robots need no list", () => {
  const f = fleet(7).fleet;
  f.start();
  assert.ok(element("search").hidden);
  assert.equal(f.mark(f.robots[0]), "");
  f.robots[0].stopped = true;
  assert.equal(f.mark(f.robots[0]), "bad");
});

test("stopped robots come first, then those in trouble", () => {
  const { fleet: f, robots, rail, names } = fleet(100);
  robots[40].trouble = ["laser failed"];
  robots[50].used = true;
  robots[60].stopped = true;
  robots[70].state = "lost";
  robots[80].data = { m: { front: 0, rear: 0, volts: 11 } };
  robots[85].data = { p: { stall: true } };
  robots[90].data = { m: { front: 4, rear: 0, volts: 12 } };
  f.start();
  assert.ok(element("main").classes.has("many"));
  assert.deepEqual(names().slice(0, 9), ["r60", "r40", "r70", "r80", "r85", "r90", "r50", "r0", "r1"]);
  assert.equal(element("fleet-state").textContent, "100 robots · 1 stopped · 5 in trouble");
  const status = (i) => rail.cards.get(robots[i]).querySelector(".status").textContent;
  assert.deepEqual([40, 50, 60, 70, 80, 85, 90, 0].map(status), ["laser failed", "in use", "stopped", "lost", "battery 11.0 V", "wheels stalled", "bumpers pressed", "idle"]);
  assert.deepEqual([40, 60, 0].map((i) => f.mark(robots[i])), ["bad", "bad", ""]);
  robots[40].trouble = [];
  f.update();
  assert.deepEqual(names().slice(0, 3), ["r60", "r70", "r80"]);
  for (const robot of robots) robot.gone = true;
  f.update();
  assert.equal(element("fleet-state").textContent, "100 robots · 100 without a connection");
});

test("the list does not move under the mouse", () => {
  const { fleet: f, rail, robots, names } = fleet(20);
  f.start();
  rail.list.matches = (selector) => selector === ":hover";
  robots[5].stopped = true;
  f.update();
  assert.equal(names()[0], "r0");
  rail.list.matches = () => false;
  f.update();
  assert.equal(names()[0], "r5");
});

test("search by name and state", () => {
  const { fleet: f, robots, rail } = fleet(100);
  robots[42].trouble = ["laser stale"];
  f.start();
  const search = (text) => {
    element("search").value = text;
    fire(element("search"), "input");
    return robots.filter((robot) => !rail.cards.get(robot).hidden).map((robot) => robot.name);
  };
  assert.deepEqual(search(" STALE "), ["r42"]);
  assert.equal(element("fleet-state").textContent, "1 of 100 robots · 1 in trouble");
  assert.equal(search("r9").length, 11);
  assert.equal(f.mark(robots[93]), "found");
  assert.equal(f.mark(robots[42]), "faded");
  assert.equal(search("").length, 100);
});
