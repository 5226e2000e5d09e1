import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Element, clock, element, fire, replies, settle, sockets } from "./browser.js";
import { bytes, near } from "./data.js";
import { Editor } from "../page/edit.js";
import { World } from "../page/world.js";

const box = (x, y, a, b) => [[{ X: x - a, Y: y - b }, { X: x + a, Y: y - b }, { X: x + a, Y: y + b }, { X: x - a, Y: y + b }]];
const part = (top, outlines) => ({ color: "#336699", top, outlines });
const mounts = { Laser: { X: 0, Y: 0, Heading: 0 }, Camera: null, Sonars: [], SonarFOV: 0.3 };
const movers = [{ name: "a", parts: [part(0.5, box(0, 0, 0.3, 0.3))], mounts }];
// A wall along y from (2,-1) to (2,1), whose heading is 90 degrees, and a picture.
const draft = (more = [], starts = []) => ({ draft: {
  scene: { name: "room", fixtures: [{ name: "wall", parts: [part(1, box(2, 0, 0.05, 1))] }, { name: "picture", parts: [] }, ...more], movers },
  starts: [{ X: 2, Y: 0, Heading: Math.PI / 2 }, { X: 0, Y: 0, Heading: 0 }, ...starts, { X: -1, Y: 0, Heading: 0.5 }],
  kinds: ["box", "crate"], text: "the text", id: "one", changes: 7, edited: true, undo: true, old: false, error: "",
} });

replies.plan = { ok: true, arrayBuffer: async () => bytes("c010000000000000 c008000000000000 3fe0000000000000 00000010 0000000c" + "8001".repeat(12)).buffer };

let world, editor, socket, notes, saved, canvas;

beforeEach(async () => {
  canvas = new Element();
  notes = [];
  saved = [];
  world = new World(canvas, { select: () => assert.fail("a robot is selected"), note: (text) => notes.push(text) });
  world.view.resize();
  editor = new Editor(world, (name, text) => saved.push([name, text]));
  await world.start();
  socket = sockets.at(-1);
  socket.open();
  socket.receive({ name: "dir/room.world", fixtures: [], movers });
  world.view.fit({ left: -4, right: 4, bottom: -3, top: 3 }, 0); // 50 pixels per metre
  editor.send({});
  socket.receive(draft());
  socket.sent = [];
});

const press = (x, y, fields = {}) => fire(canvas, "pointerdown", { pointerId: 1, button: 0, clientX: x, clientY: y, ...fields });
const drag = (x, y) => fire(canvas, "pointermove", { pointerId: 1, buttons: 1, clientX: x, clientY: y });
const drop = () => fire(canvas, "pointerup", { pointerId: 1 });
const key = (code, shiftKey = false) => fire(canvas, "keydown", { code, shiftKey });
const edits = () => socket.sent.map(({ edit }) => edit);

test("what the file describes is drawn, fixtures in the frame of their poses", () => {
  assert.equal(world.editor, editor);
  const [wall] = editor.things;
  near(wall.parts[0].outlines[0][0].X, -1);
  near(wall.parts[0].outlines[0][0].Y, 0.05);
  canvas.getContext("2d").calls.length = 0;
  world.view.changed();
  clock.advance(20);
  const { calls } = canvas.getContext("2d");
  assert.deepEqual(calls.filter(([name]) => name === "translate").map(([, x, y]) => [x, y]), [[2, 0], [0, 0], [-1, 0]]);
  assert.deepEqual(calls.filter(([name]) => name === "fillText").map(([, text]) => text), ["a"]);
});

test("a drag moves what is at the pointer, one change at a time", () => {
  press(305, 150); // next to the wall, within reach
  assert.equal(editor.selected, 0);
  drag(330, 125);
  drop();
  const [{ move }] = edits();
  assert.equal(move.thing, 0);
  near(move.x, 2.5);
  near(move.y, 0.5);
  near(move.heading, Math.PI / 2);
  press(150, 150); // the server works on the first one
  drop();
  assert.equal(editor.selected, 0);
  socket.receive({ draft: { starts: null, kinds: null, text: "", id: "one", error: "there is no room" } });
  assert.equal(notes.at(-1), "there is no room");
  near(editor.things[0].start.x, 2); // as before
  press(150, 150, { shiftKey: true }); // the robot
  drag(150, 50);
  drop();
  near(edits().at(-1).move.heading, Math.PI / 2);
});

test("walls, and what is drawn is selected", () => {
  editor.wall(true);
  press(100, 50);
  drag(150, 50);
  drop();
  const [{ wall }] = edits();
  near(wall.from.x, -2);
  near(wall.to.x, -1);
  near(wall.to.y, 2);
  socket.receive(draft([{ name: "new", parts: [part(1, box(-1.5, 2, 0.5, 0.05))] }], [{ X: -1.5, Y: 2, Heading: 0 }]));
  assert.equal(editor.things[editor.selected].name, "new");
});

test("keys", () => {
  key("Delete"); // nothing is selected
  assert.equal(key("ArrowUp").defaultPrevented, false); // drives
  key("PageUp");
  assert.equal(editor.things[editor.selected].name, "a");
  key("PageDown");
  assert.equal(editor.things[editor.selected].name, "wall");
  key("ArrowUp", true);
  near(edits()[0].move.y, 0.1);
  socket.receive(draft());
  key("Period");
  near(edits()[1].move.heading, Math.PI / 2 - Math.PI / 18);
  socket.receive(draft());
  key("Delete");
  assert.deepEqual(edits()[2], { delete: 0, base: 7 });
});

// again connects the world's socket again.
async function again() {
  clock.advance(1000);
  await settle(); // it also gets the floor plan
  socket = sockets.at(-1);
  socket.open();
  socket.receive({ name: "dir/room.world", fixtures: [], movers });
}

test("a lost connection keeps the draft, and the editor goes on", async () => {
  editor.send({ undo: true }); // which is lost
  socket.end();
  assert.equal(world.editor, editor);
  assert.ok(element("edit-add").disabled && !element("edit-save").disabled);
  await again();
  assert.deepEqual(edits(), [{ base: 7 }]);
  socket.receive(draft());
  assert.ok(!editor.orphan && !element("edit-add").disabled);
  assert.equal(notes.at(-1), "");
});

test("a page that was reloaded goes on, unless the editor was left or nothing may be changed", () => {
  const another = new Editor(world, () => {});
  socket.receive({ name: "dir/room.world", fixtures: [], movers });
  assert.ok(another.busy);
  socket.receive(draft());
  another.leave();
  editor.leave();
  socket.sent = [];
  socket.receive({ name: "dir/room.world", fixtures: [], movers });
  assert.deepEqual(edits(), []);
  sessionStorage.setItem("editing", "1");
  world.locked = true;
  socket.receive({ name: "dir/room.world", fixtures: [], movers });
  assert.deepEqual(edits(), []);
});

test("the draft of a server that was started again is only in the page", async () => {
  socket.end();
  editor.leave();
  editor.send({});
  await again();
  editor.send({});
  const fresh = draft();
  Object.assign(fresh.draft, { id: "two", text: "the file", edited: false });
  socket.receive(fresh);
  assert.match(notes.at(-1), /^The server was started again/);
  assert.ok(editor.on);
  socket.sent = [];
  key("PageDown");
  key("Delete");
  assert.deepEqual(edits(), []);
  fire(element("edit-save"), "click");
  assert.deepEqual(saved.at(-1), ["room", "the text"]);
  fire(element("edit-revert"), "click");
  assert.deepEqual(edits(), [{ base: 7 }]);
  socket.receive(fresh);
  assert.equal(editor.draft.text, "the file");
});

test("another file on the server is told", () => {
  const old = draft();
  old.draft.old = true;
  socket.receive(old);
  assert.match(notes.at(-1), /^The server has loaded another world file/);
  fire(element("edit-revert"), "click");
  assert.deepEqual(edits(), [{ revert: true, base: 7 }]);
});
