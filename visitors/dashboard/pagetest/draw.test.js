import assert from "node:assert/strict";
import { test } from "node:test";
import { Element, clock } from "./browser.js";
import { near } from "./data.js";
import { HULL, MOUNTS } from "../page/pioneer.js";
import { Rail } from "../page/rail.js";
import { Robot } from "../page/robot.js";
import { Scope } from "../page/scope.js";
import { drawRobot, drawSensors } from "../page/sensors.js";
import { palette } from "../page/view.js";

const drawn = (draw, data) => {
  const c = new Element().getContext();
  draw(c, { data, mounts: MOUNTS, shape: [HULL] }, palette(), 0.01);
  return c.calls;
};
const named = (calls, name) => calls.filter(([n]) => n === name);
const strokes = (calls) => named(calls, "strokeStyle").map(([, color]) => color.replace(/^light--/, ""));

test("the laser: its area, and lines along surfaces", () => {
  const l = new Float32Array(361).fill(8.191);
  l.set([2, 2, 2], 179); // a surface ahead
  l[0] = 1; // a single point to the right
  const calls = drawn(drawSensors, { l });
  assert.deepEqual(named(calls, "translate"), [["translate", MOUNTS.Laser.X, 0]]);
  assert.equal(named(calls, "lineTo").length, 361 + 4);
  const moves = named(calls, "moveTo").slice(1); // after that to the laser
  assert.equal(moves.length, 4);
  near(moves[0][2], -1); // the single point is a dot
  near(moves[2][1], 2 * Math.cos(Math.PI / 360)); // the second one of the surface begins at the first
  assert.deepEqual(strokes(calls), ["laser"]);
});

test("sonars: an arc where there is an echo", () => {
  const calls = drawn(drawSensors, { s: [1, 5, 0] });
  const arcs = named(calls, "arc").map(([, x, y, range]) => [x, y, range]);
  assert.deepEqual(arcs, [[0, 0, 1], [0, 0, 1], [0, 0, 5]]); // an area for two, an arc for one, none without data
  assert.equal(named(calls, "stroke").length, 1);
});

test("the camera's field of view", () => {
  const calls = drawn(drawSensors, { z: { pan: 90, tilt: 0, zoom: 1023 } });
  near(named(calls, "rotate").at(-1)[1], Math.PI / 2);
  const [, , , , from, to] = named(calls, "arc")[0];
  near(to - from, (4.4 * Math.PI) / 180);
});

test("a robot without data is its outline", () => {
  const calls = drawn(drawRobot, {});
  assert.equal(named(calls, "lineTo").length, HULL.length + 3);
  assert.equal(named(calls, "arc").length, 0);
  assert.deepEqual(named(calls, "fillStyle")[0], ["fillStyle", "light--robot"]);
});

test("bumpers, gripper and a stall", () => {
  const calls = drawn(drawRobot, { m: { front: 0b00100, rear: 0 }, g: { state: 2 }, p: { stall: true } });
  assert.equal(named(calls, "arc").length, 10);
  assert.equal(strokes(calls).filter((color) => color === "bad").length, 1);
  near(named(calls, "arc")[2][4] + named(calls, "arc")[2][5], 0); // the pressed one is ahead
  assert.ok(named(calls, "moveTo").some(([, x, y]) => x === 0.18 && y === 0.02)); // paddles are closed
  assert.deepEqual(named(calls, "fillStyle")[0], ["fillStyle", "light--robot-stalled"]);
});

test("the scope shows most of what the first scan detects", () => {
  const canvas = new Element(), scope = new Scope(canvas);
  scope.view.resize();
  const robot = new Robot({ name: "r", address: "a:1" });
  scope.show(robot);
  near(scope.view.scale, (300 - 16) / 6); // 4 m ahead, 2 m behind
  robot.data.s = Array(16).fill(1);
  scope.update();
  near(scope.view.scale, (300 - 16) / (1.5 * 1.5)); // at least 1.5 m
  robot.data.s = Array(16).fill(4);
  scope.update();
  near(scope.view.scale, (300 - 16) / (1.5 * 1.5)); // the first scan only
  scope.headingUp = false;
  scope.fit();
  assert.ok(scope.view.scale < (300 - 16) / 8);
  near(scope.view.y, 0);
});

test("a resized scope is fitted again unless it was zoomed", () => {
  const canvas = new Element(), scope = new Scope(canvas);
  canvas.clientHeight = 600;
  scope.view.resize();
  near(scope.view.scale, (400 - 16) / 8);
  scope.view.scaleBy(2, { x: 0, y: 0 });
  scope.view.resize();
  near(scope.view.scale, (400 - 16) / 4);
});

test("the scope draws rings, the trail in the robot's frame, and where it drives", () => {
  const canvas = new Element(), scope = new Scope(canvas);
  const robot = new Robot({ name: "r", address: "a:1" });
  robot.data.p = { x: 1, y: 2, heading: 0.5, speed: 1, turn: 0, stall: false };
  robot.trail = [{ x: 0, y: 0, jump: true }, { x: 1, y: 2 }];
  scope.view.resize();
  scope.show(robot);
  clock.advance(20);
  const { calls } = canvas.getContext();
  assert.ok(named(calls, "fillText").some(([, text]) => text === "1 m"));
  assert.deepEqual(named(calls, "rotate").map(([, angle]) => angle), [Math.PI / 2, -0.5]);
  assert.deepEqual(named(calls, "translate"), [["translate", -1, -2]]);
  assert.ok(named(calls, "lineTo").some(([, x, y]) => Math.abs(x - 1) < 1e-6 && Math.abs(y) < 1e-6)); // 1 m in a second
  scope.headingUp = false;
  near(scope.angle(), 0.5);
});

test("the list of robots", () => {
  const events = [], list = new Element();
  const rail = new Rail(list, { select: (r) => events.push("select", r), pin: (r) => events.push("pin", r), remove: (r) => events.push("remove", r), stop: (r) => events.push("stop", r) },
    (r) => r === first && r.stopped ? { text: "Stopped", why: "" } : { text: "Stop", why: "You may not." });
  const first = new Robot({ name: "r0", address: "a:1" }), typed = new Robot({ name: "b:2", address: "b:2", typed: true });
  rail.add(first);
  rail.add(typed);
  const [card, other] = list.children;
  assert.equal(card.querySelector("b").textContent, "r0");
  assert.equal(card.querySelector(".address").textContent, "a:1");
  assert.equal(other.querySelector(".address").textContent, ""); // is its name
  card.querySelector(".card").dispatchEvent(new Event("click"));
  card.querySelector(".pin").dispatchEvent(new Event("click"));
  other.children[0].dispatchEvent(new Event("click")); // only added robots can be removed
  assert.equal(card.children.length, 0);
  assert.deepEqual(events, ["select", first, "pin", first, "remove", typed]);
  card.querySelector(".halt").dispatchEvent(new Event("click"));
  assert.deepEqual(events.slice(-2), ["stop", first]);
  rail.select(typed);
  assert.deepEqual([card, other].map((c) => c.querySelector(".card").attributes["aria-pressed"]), ["false", "true"]);
  clock.advance(20); // draws the cards
  assert.equal(card.querySelector(".status").textContent, "not watched");
  assert.equal(card.dataset.state, "off");
  assert.ok(card.querySelector("canvas").getContext().calls.some(([name]) => name === "lineTo"));
  const halt = () => { const { textContent, disabled, title, attributes } = card.querySelector(".halt"); return [textContent, disabled, title, attributes["aria-label"], attributes["aria-pressed"]]; };
  assert.deepEqual(halt(), ["Stop", true, "You may not.", "Stop r0", "false"]);
  first.stopped = true;
  rail.updateAll();
  assert.deepEqual(halt(), ["Stopped", false, "", "Stopped r0", "true"]);
  first.stopped = false;
  first.state = "lost";
  rail.updateAll();
  assert.equal(card.querySelector(".status").textContent, "lost");
  rail.remove(first);
  assert.ok(card.removed);
  rail.update(first); // a late event
});

test("a goal, in the frame of the robot", () => {
  const goal = (state) => {
    const c = new Element().getContext();
    const data = { p: { x: 1, y: 1, heading: Math.PI / 2 }, "goto:0": { state, x: 1, y: 3 } };
    drawSensors(c, { data, mounts: MOUNTS, shape: [], others: [{ name: "goto:0", interface: "goto", rays: [] }] }, palette(), 0.01);
    return c.calls;
  };
  const [, x, y] = named(goal(1), "arc")[0];
  near(x, 2), near(y, 0);
  assert.deepEqual([0, 1, 2, 3, 4].map((state) => strokes(goal(state)).join()), ["", "accent", "dim", "bad", "dim"]);
  assert.deepEqual([1, 2, 3, 4].map((state) => named(goal(state), "lineTo").length), [1, 0, 1, 0]);
});

test("a press on the view is one in the frame of the robot", () => {
  const scope = new Scope(new Element("pressed")), pressed = [];
  scope.view.resize();
  scope.press = (point) => pressed.push(point) > 0;
  scope.fit();
  const middle = scope.view.toScreen({ x: 0, y: 1 }); // up
  assert.equal(scope.grab(middle), null);
  near(pressed[0].x, 1), near(pressed[0].y, 0);
});
