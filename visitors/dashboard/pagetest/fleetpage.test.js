import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, element, fire, settle, sockets } from "./browser.js";
import { History, SAMPLES, PERIOD } from "../../../fleet/page/assets/history.js";

// The page of a fleet, with a thousand robots.
const MANY = 1000;
await import("../../../fleet/page/assets/main.js");
await settle();
const { robots, map } = globalThis.fleet, [socket] = sockets, canvas = element("plan");
element("search").value = "";
map.view.resize();

function row(i, about = {}) {
  return { name: `unit${i}`, state: "well", text: "", volts: 12, age_ms: 100, place: [2 * (i % 40), 2 * Math.floor(i / 40), 0], page: "http://robot.example/", ...about };
}
function all(about = () => ({})) {
  return { fleet: "lab", connected: true, robots: Array.from({ length: MANY }, (_, i) => row(i, about(i))) };
}
const moved = (x) => ({ moved: Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`unit${i}`, [2 * (i % 40) + x / 100, 2 * Math.floor(i / 40), 90]])) });
const shown = () => element("robots").children.map((item) => item.dataset.name);
const called = (name) => map.view.context.calls.filter(([what]) => what === name);

test("however many messages come, an animation frame draws once", () => {
  socket.receive(all());
  clock.advance(20);
  const before = map.draws;
  for (let i = 0; i < 50; i++) {
    socket.receive(moved(i));
    socket.receive(all());
  }
  assert.equal(map.draws, before);
  clock.advance(16);
  clock.advance(16);
  assert.ok(map.draws - before <= 2, `${map.draws - before} draws`);
  const after = map.draws;
  clock.advance(1000);
  assert.equal(map.draws, after); // a map without changes is not drawn
});

test("robots of one colour are drawn at once", () => {
  socket.receive(all((i) => ({ state: ["well", "driven", "trouble", "stopped"][i % 4] })));
  clock.advance(40);
  map.view.context.calls.length = 0;
  socket.receive(moved(3));
  clock.advance(20);
  assert.equal(called("closePath").length, MANY);
  assert.equal(called("fill").length, 4);
});

test("rows of robots that have not changed are left alone", () => {
  socket.receive(all());
  clock.advance(20);
  const { item } = robots.get("unit5").list;
  let writes = 0;
  for (const known of robots.values()) {
    const { text } = known.list.parts;
    let value = text.textContent;
    Object.defineProperty(text, "textContent", { get: () => value, set: (v) => (value = v, writes++), configurable: true });
  }
  socket.receive(all((i) => (i === 5 ? { text: "anna has control", driver: "anna" } : {})));
  clock.advance(20);
  assert.equal(writes, 1);
  assert.equal(robots.get("unit5").list.item, item);
});

test("those that are stopped come first, then those in trouble", () => {
  socket.receive(all((i) => ({ state: { 700: "trouble", 800: "stopped" }[i] ?? "well" })));
  clock.advance(20);
  assert.deepEqual(shown().slice(0, 4), ["unit800", "unit700", "unit0", "unit1"]);
});

test("the map has the names that do not cover others, and who drives", () => {
  socket.receive(all((i) => (i === 999 ? { state: "driven", driver: "<b>anna</b>" } : {})));
  clock.advance(40);
  map.view.context.calls.length = 0;
  socket.receive(all((i) => ({ place: [0, 0, 0], ...(i === 999 && { state: "driven", driver: "<b>anna</b>" }) })));
  clock.advance(40);
  assert.deepEqual(called("fillText").map(([, text]) => text), ["unit999 · <b>anna</b>"]); // all are at one place
});

test("a link lies over the robot under the pointer, if its page is one", () => {
  socket.receive(all((i) => (i === 1 ? { page: "javascript:alert(1)" } : {})));
  clock.advance(40);
  const link = element("here"), point = (i) => {
    const { sx, sy } = robots.get(`unit${i}`);
    fire(canvas, "pointermove", { clientX: sx, clientY: sy, buttons: 0, pointerId: 1 });
    return robots.get(`unit${i}`);
  };
  map.view.scaleBy(40);
  for (const i of [0, 1]) {
    const { place: [x, y] } = robots.get(`unit${i}`);
    Object.assign(map.view, { x, y });
    map.moved();
    clock.advance(20);
    point(i);
    assert.equal(link.hidden, i === 1);
  }
  assert.equal(link.attributes.href, "http://robot.example/");
  let opened = 0;
  link.click = () => opened++;
  for (const [from, want] of [[0, 1], [50, 1]]) { // a click, and the end of a drag
    Object.assign(map.view, { x: 0, y: 0 });
    map.moved();
    clock.advance(20);
    const { sx: x, sy: y } = robots.get("unit0");
    fire(canvas, "pointerdown", { clientX: x - from, clientY: y, pointerId: 1, button: 0 });
    fire(canvas, "pointerup", { clientX: x, clientY: y, pointerId: 1 });
    fire(canvas, "click", { clientX: x, clientY: y });
    assert.equal(opened, want);
  }
  fire(canvas, "keydown", { key: "0" });
  assert.equal(map.view.touched, false);
});

test("robots with another floor plan are on another map", async () => {
  socket.receive(all((i) => (i < 10 ? { plan: "aa" } : i < 30 ? { plan: "bb" } : { place: null })));
  clock.advance(20);
  const choice = element("floor");
  assert.deepEqual([choice.hidden, choice.value, map.robots.length, choice.children.map(({ text }) => text)],
    [false, "bb", 20, ["floor: unit10 and 19 more", "floor: unit0 and 9 more"]]);
  choice.value = "aa";
  fire(choice, "change");
  assert.equal(map.robots.length, 10);
  socket.receive(all(() => ({ plan: "bb" })));
  clock.advance(20);
  assert.deepEqual([choice.hidden, map.robots.length], [true, MANY]);
  await settle();
});

test("what is kept of a robot is bounded, and has the worst of each period", () => {
  const history = new History(Math.min, 1);
  for (let i = 0; i < 10 * SAMPLES; i++) history.add(12 + i, i * PERIOD);
  assert.equal(history.values.length, SAMPLES);
  assert.equal(history.line().match(/[ML]/g).length, SAMPLES);
  const short = new History(Math.min, 1);
  assert.equal(short.add(12, 0), true);
  assert.equal(short.add(12.5, 1), false);
  assert.equal(short.add(11, 2), true);
  assert.equal(short.add(null, 3), false);
  short.add(null, PERIOD);
  short.add(13, 2 * PERIOD);
  assert.deepEqual([short.values, short.range()], [[11, null, 13], [11, 13]]);
  assert.equal(short.line().match(/M/g).length, 2); // a gap
  short.add(14, 5 * PERIOD + 1);
  assert.deepEqual(short.values, [11, null, 13, null, null, 14]); // the page was hidden
  short.add(15, 1e6 * PERIOD);
  assert.deepEqual([short.values.length, short.range()], [SAMPLES, [15, 15]]);
  assert.equal(new History(Math.max, 1).line(), "");
});

test("robots that have gone leave nothing behind", () => {
  socket.receive({ fleet: "lab", connected: true, robots: [row(0)] });
  clock.advance(20);
  assert.equal(robots.size, 1);
  assert.deepEqual(shown(), ["unit0"]);
});
