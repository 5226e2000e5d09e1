import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Element, clock, fire, replies, settle, sockets } from "./browser.js";
import { bytes, near } from "./data.js";
import { World } from "../page/world.js";

const square = (half) => [[{ X: -half, Y: -half }, { X: half, Y: -half }, { X: half, Y: half }, { X: -half, Y: half }]];
const part = (top, half) => ({ color: "#336699", top, outlines: square(half) });
const mounts = { Laser: { X: 0, Y: 0, Heading: 0 }, Camera: null, Sonars: [], SonarFOV: 0.3 };
const scene = () => ({
  name: "room",
  fixtures: [{ parts: [part(2, 0.1), part(1, 0.2)] }],
  movers: [{ name: "a", parts: [part(0.5, 0.3), part(0.2, 0.2)], mounts }, { name: "puck", parts: [part(0.1, 0.001)] }],
});

// poses returns a message with the poses of both movers at x, y, heading.
function poses(number, time, flags, ...list) {
  const view = new DataView(new ArrayBuffer(17 + 24));
  view.setUint32(0, number);
  view.setFloat64(4, time);
  view.setFloat32(12, 1);
  view.setUint8(16, flags);
  list.flat().forEach((v, i) => view.setFloat32(17 + 4 * i, v));
  return view.buffer;
}

// A plan of 8 by 6 m, in cells of half a metre.
replies.plan = { ok: true, arrayBuffer: async () => bytes("c010000000000000 c008000000000000 3fe0000000000000 00000010 0000000c" + "8001".repeat(12)).buffer };

const robot = { name: "a", mover: 0, data: {}, shape: [], mounts, setBuild() {} };
let world, socket, notes, selected, canvas;

beforeEach(async () => {
  canvas = new Element();
  notes = [];
  selected = [];
  world = new World(canvas, { select: (r) => selected.push(r), note: (text) => notes.push(text) });
  world.addEventListener("scene", () => world.assign([robot]));
  world.view.resize();
  await world.start();
  socket = sockets.at(-1);
  socket.open();
  socket.receive(scene());
  world.view.fit({ left: -4, right: 4, bottom: -3, top: 3 }, 0); // 50 pixels per metre
  socket.receive(poses(1, 0, 0, [1, 0, 0], [-2, 1, 0]));
  socket.sent = [];
});

const press = (x, y, fields = {}) => fire(canvas, "pointerdown", { pointerId: 1, button: 0, clientX: x, clientY: y, ...fields });
const drag = (x, y) => fire(canvas, "pointermove", { pointerId: 1, buttons: 1, clientX: x, clientY: y });
const drop = () => fire(canvas, "pointerup", { pointerId: 1 });

test("the scene: parts from below, and how large movers are", () => {
  assert.equal(world.name, "room");
  assert.deepEqual(world.fixtures.map((p) => p.top), [1, 2]);
  assert.deepEqual(world.movers[0].parts.map((p) => p.top), [0.2, 0.5]);
  near(world.movers[0].radius, 0.3 * Math.SQRT2);
  near(world.movers[1].radius, 0.05); // small ones can also be touched
  assert.deepEqual(world.robots, [robot]);
  assert.deepEqual(world.extent(), { left: -4, right: 4, bottom: -3, top: 3 });
});

test("poses are acknowledged and leave trails", () => {
  let times = 0;
  world.addEventListener("time", () => times++);
  socket.receive(poses(2, 1.5, 1, [1.1, 0, 0], [-2, 1, 0]));
  assert.equal(new DataView(socket.sent[0]).getUint32(0), 2);
  assert.equal(times, 1);
  assert.equal(world.time, 1.5);
  assert.equal(world.paused, true);
  assert.equal(world.movers[0].trail.length, 2);
  assert.equal(world.movers[1].trail.length, 1);
});

test("what is at a point", () => {
  assert.deepEqual(world.at({ x: 250, y: 150 }), { mover: 0, turn: false });
  assert.deepEqual(world.at({ x: 110, y: 100 }), { mover: 1, turn: false }); // within a fingertip of the puck
  assert.equal(world.at({ x: 50, y: 250 }), null);
  world.selected = 0;
  const handle = world.view.toScreen(world.handle(0));
  near(handle.x, 250 + 50 * 0.3 * Math.SQRT2 + 26);
  assert.deepEqual(world.at(handle), { mover: 0, turn: true });
  fire(canvas, "pointermove", { buttons: 0, clientX: 250, clientY: 150 });
  assert.equal(canvas.style.cursor, "grab");
});

test("a drag moves a robot by as much as the pointer moves", () => {
  press(255, 150); // a little off its centre
  assert.deepEqual(selected, [robot]);
  drag(305, 100);
  drag(355, 50);
  clock.advance(0);
  assert.deepEqual(socket.sent.map(({ move }) => [move.mover, Math.round(move.x * 1e6), Math.round(move.y * 1e6), move.heading]), [[0, 3e6, 2e6, 0]]);
  socket.receive(poses(2, 1, 0, [3, 2, 0], [-2, 1, 0]));
  assert.equal(world.movers[0].trail.at(-1).jump, true);
  drag(405, 50);
  assert.equal(socket.sent.filter((m) => m.move).length, 1); // not before the period is over
  clock.advance(33);
  assert.equal(socket.sent.filter((m) => m.move).length, 2);
  drop();
  near(socket.sent.at(-1).move.x, 4);
  assert.equal(world.ghost, null);
  drag(100, 100);
  assert.equal(socket.sent.filter((m) => m.move).length, 3);
});

test("a drag with Shift turns towards the pointer", () => {
  press(250, 150, { shiftKey: true });
  drag(250, 50);
  drop();
  const { x, heading } = socket.sent.at(-1).move;
  near(x, 1);
  near(heading, Math.PI / 2);
});

test("a click moves nothing, and a drag beside movers moves the floor", () => {
  press(250, 150);
  drop();
  press(50, 250);
  drag(100, 250);
  drop();
  assert.deepEqual(socket.sent, []);
  near(world.view.x, -1);
});

test("a move that is refused", () => {
  press(250, 150);
  drag(300, 150);
  socket.receive({ mover: 0, error: "no room" });
  assert.equal(notes.at(-1), "no room");
  assert.equal(world.ghost.blocked, true);
  drag(320, 150);
  assert.equal(world.ghost.blocked, true); // until the next report
  clock.advance(20); // draws
  assert.ok(world.view.context.calls.some(([name]) => name === "setLineDash"));
  socket.receive({ mover: 0, error: "" });
  assert.equal(notes.at(-1), "");
  assert.equal(world.ghost.blocked, false);
  drop();
});

test("keys move and turn the selected robot", () => {
  const key = (code, shiftKey = false) => fire(canvas, "keydown", { code, shiftKey });
  key("Comma"); // none is selected
  world.selected = 0;
  assert.equal(key("ArrowUp").defaultPrevented, false); // drives
  assert.equal(key("ArrowUp", true).defaultPrevented, true);
  key("ArrowLeft", true);
  key("Comma");
  key("Period");
  const moves = socket.sent.map(({ move: { x, y, heading } }) => [x, y, heading]);
  [[1, 0.1, 0], [0.9, 0, 0], [1, 0, Math.PI / 18], [1, 0, -Math.PI / 18]].forEach((want, i) => want.forEach((v, k) => near(moves[i][k], v)));
});

test("a simulator that is lost is tried again", async () => {
  const { length } = sockets;
  socket.end();
  assert.match(notes.at(-1), /does not answer/);
  world.send({ pause: true }); // goes nowhere
  clock.advance(1000);
  await settle(); // it gets the floor plan, which may be another one
  assert.equal(sockets.length, length + 1);
  sockets.at(-1).open();
  sockets.at(-1).receive(scene());
  assert.equal(notes.at(-1), "");
});

test("another world with fewer movers takes the place of the last one", async () => {
  world.freeze(world.now);
  socket.end();
  await world.start();
  socket = sockets.at(-1);
  socket.open();
  const { movers: [one], ...rest } = scene();
  socket.receive({ ...rest, movers: [one] });
  clock.advance(16);
  world.freeze([{ x: 1, y: 0, heading: 0 }, { x: -2, y: 1, heading: 0 }]); // of the last world
  clock.advance(16);
  world.thaw();
  clock.advance(16);
  assert.deepEqual(world.poses, []); // the server has sent none
});

test("drawing", () => {
  world.selected = 0;
  robot.data = { l: new Float32Array(361).fill(2) };
  clock.advance(20);
  const { calls } = world.view.context;
  assert.ok(calls.some(([name, text]) => name === "fillText" && text === "a"));
  const drawn = calls.filter(([name]) => name === "translate").map(([, x, y]) => [x, y]);
  assert.deepEqual(drawn.slice(0, 2), [[-2, 1], [1, 0]]); // things that are no robots are below
  const mask = world.floor.getContext().calls.find(([name]) => name === "putImageData")[1];
  assert.equal(mask.data.filter(Boolean).length, 24);
  assert.equal(mask.data[3], 255);
  robot.data = {};
});

test("the past stands still and cannot be changed", () => {
  world.freeze([{ x: 3, y: 0, heading: 0 }, { x: 0, y: 0, heading: 0 }]);
  world.lens = () => ({ ...robot, data: { past: true } });
  socket.receive(poses(2, 1, 0, [1.5, 0, 0], [-2, 1, 0]));
  assert.equal(world.poses[0].x, 3);
  socket.sent = [];
  press(350, 150); // where it was
  assert.deepEqual(selected, [robot]);
  drag(380, 150);
  clock.advance(100);
  drop();
  world.selected = 0;
  fire(canvas, "keydown", { code: "Comma" });
  assert.deepEqual(socket.sent, []);
  world.thaw();
  assert.equal(world.poses[0].x, 1.5);
});

test("names and marks of many robots", () => {
  const all = Array.from({ length: 5 }, (_, i) => ({ ...robot, name: `r${i}`, mover: i, setBuild() {} }));
  const many = scene();
  many.movers = all.map(({ name }) => ({ name, parts: [part(0.5, 0.05)], mounts }));
  world.addEventListener("scene", () => world.assign(all));
  socket.receive(many);
  const names = (scale, marks) => {
    world.view.scale = scale;
    world.mark = ({ name }) => marks[name] ?? "";
    world.poses = all.map((_, i) => ({ x: i < 3 ? 0 : i, y: 0, heading: 0 })); // three in one place
    const { calls } = canvas.getContext("2d");
    calls.length = 0;
    world.drawNames(canvas.getContext("2d"), { bad: "bad", accent: "accent", dim: "dim", text: "text" }, 1 / scale);
    return calls.filter(([name]) => name === "fillText").map(([, text]) => text);
  };
  world.selected = -1;
  assert.deepEqual(names(100, {}), ["r0", "r3", "r4"]); // no name covers another
  assert.deepEqual(names(5, {}), []);
  assert.deepEqual(names(5, { r2: "bad", r1: "found", r4: "found" }), ["r2", "r4"]);
  assert.deepEqual(names(100, { r0: "faded", r3: "faded", r4: "faded" }), ["r1"]);
  world.selected = 1;
  assert.deepEqual(names(5, { r2: "bad" }), ["r1"]);
});

test("a world without walls shows its robots", () => {
  socket.receive(scene());
  socket.receive(poses(2, 0, 0, [40, 0, 0], [-40, 30, 0]));
  const { x, y } = world.view.toScreen({ x: 40, y: 0 });
  assert.ok(x > 0 && x < 400 && y > 0 && y < 300, `${x}, ${y}`);
});
