import assert from "node:assert/strict";
import test from "node:test";
import { Element, clock, element, fire, settle } from "./browser.js";
const { Fleet } = await import("../page/fleet.js");
const { Rail } = await import("../page/rail.js");
const { Robot } = await import("../page/robot.js");

let asked = 0, health;
globalThis.fetch = async (path) => {
  assert.equal(path, "healthz");
  asked++;
  if (!health) throw new Error("refused");
  return { ok: false, status: 503, json: async () => ({ robots: health }) };
};

// fleet makes n robots, on ports from 6000 on.
function fleet(n) {
  const rail = new Rail(new Element(), { select() {}, pin() {}, remove() {} });
  const robots = Array.from({ length: n }, (_, i) => new Robot({ name: `r${i}`, address: `localhost:${6000 + i}`, mover: i }));
  for (const robot of robots) rail.add(robot);
  health = robots.map((_, i) => ({ port: 6000 + i, stopped: false, devices: { position: "idle", laser: "idle" } }));
  return { rail, robots, fleet: new Fleet(robots, rail), names: () => rail.list.children.map((card) => card.querySelector("b").textContent) };
}

test("few robots need no list", async () => {
  const f = fleet(7).fleet;
  await f.start();
  clock.advance(10000);
  assert.equal(asked, 0);
  assert.ok(element("search").hidden);
  assert.equal(f.mark(f.robots[0]), "");
});

test("robots in trouble come first", async () => {
  const { fleet: f, robots, rail, names } = fleet(100);
  health[40].devices.laser = "failed";
  health[50].devices.position = "ready";
  health[60].stopped = true;
  robots[70].state = "lost";
  robots[80].data = { m: { front: 0, rear: 0, volts: 11 } };
  robots[85].data = { p: { stall: true } };
  robots[90].data = { m: { front: 4, rear: 0, volts: 12 } };
  await f.start();
  assert.ok(element("main").classes.has("many"));
  assert.deepEqual(names().slice(0, 9), ["r40", "r70", "r80", "r85", "r90", "r60", "r50", "r0", "r1"]);
  assert.equal(element("fleet-state").textContent, "100 robots · 5 in trouble · 1 stopped");
  const status = (i) => rail.cards.get(robots[i]).querySelector(".status").textContent;
  assert.deepEqual([40, 50, 60, 70, 80, 85, 90, 0].map(status), ["laser failed", "in use", "stopped", "lost", "battery 11.0 V", "wheels stalled", "bumpers pressed", "idle"]);
  assert.deepEqual([40, 60, 0].map((i) => f.mark(robots[i])), ["bad", "warn", ""]);
  health[40].devices.laser = "idle";
  clock.advance(2000);
  await settle();
  assert.deepEqual(names().slice(0, 2), ["r70", "r80"]);
});

test("the list does not move under the mouse", async () => {
  const { fleet: f, rail, names } = fleet(20);
  await f.start();
  rail.list.matches = (selector) => selector === ":hover";
  health[5].stopped = true;
  await f.ask();
  assert.equal(names()[0], "r0");
  rail.list.matches = () => false;
  f.update();
  assert.equal(names()[0], "r5");
});

test("search by name and state", async () => {
  const { fleet: f, robots, rail } = fleet(100);
  health[42].devices.laser = "stale";
  await f.start();
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

test("the health of a robot is not that of one of another server with its port", async () => {
  const { fleet: f, robots } = fleet(10);
  health[3].devices.laser = "failed";
  robots.push(new Robot({ name: "10.0.0.7:6003", address: "10.0.0.7:6003" }));
  f.rail.add(robots.at(-1));
  await f.start();
  assert.equal(f.state(robots[3])[0], 0);
  assert.deepEqual(f.state(robots.at(-1)), [2, ""]);
});

test("without an answer only what is watched is known", async () => {
  const { fleet: f, robots } = fleet(10);
  await f.start();
  assert.deepEqual(f.state(robots[0]), [3, "idle"]);
  health = null;
  await f.ask();
  assert.deepEqual(f.state(robots[0]), [2, ""]);
});
