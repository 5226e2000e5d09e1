import assert from "node:assert/strict";
import { test } from "node:test";
import { Element, clock, fire } from "./browser.js";
import { near } from "./data.js";
import { View, palette } from "../page/view.js";

function view(options = {}) {
  const canvas = new Element();
  const v = new View(canvas, { draw() {}, ...options });
  v.resize();
  v.fit({ left: -4, right: 4, bottom: -3, top: 3 }, 0); // 50 pixels per metre, the middle is 200, 150
  return [v, canvas];
}
const pointer = (canvas, type, id, x, y) => fire(canvas, type, { pointerId: id, button: 0, clientX: x, clientY: y });

test("changes are drawn once, in metres, in the next animation frame", () => {
  let drawn = 0;
  const [v, canvas] = view({ draw: () => drawn++ });
  clock.advance(20);
  drawn = 0;
  v.x = 1;
  v.changed();
  v.changed();
  assert.equal(drawn, 0);
  clock.advance(20);
  assert.equal(drawn, 1);
  assert.deepEqual([canvas.width, canvas.height], [800, 600]); // two device pixels per CSS pixel
  assert.deepEqual(v.context.calls.filter(([name]) => name === "setTransform").at(-1), ["setTransform", 100, 0, 0, -100, 300, 300]);
  canvas.clientWidth = canvas.clientHeight = 0; // hidden
  v.resize();
  clock.advance(20);
  assert.equal(drawn, 1);
});

test("one finger moves the floor", () => {
  const [v, canvas] = view();
  pointer(canvas, "pointermove", 1, 0, 0); // not held
  assert.equal(v.touched, false);
  pointer(canvas, "pointerdown", 1, 100, 100);
  pointer(canvas, "pointermove", 1, 150, 75);
  near(v.x, -1);
  near(v.y, -0.5);
  assert.equal(v.touched, true);
  pointer(canvas, "pointerup", 1, 150, 75);
  pointer(canvas, "pointermove", 1, 0, 0);
  near(v.x, -1);
  v.fit({ left: 0, right: 1, bottom: 0, top: 1 });
  assert.equal(v.touched, false);
});

test("two fingers zoom", () => {
  const [v, canvas] = view();
  pointer(canvas, "pointerdown", 1, 150, 150);
  pointer(canvas, "pointerdown", 2, 250, 150);
  pointer(canvas, "pointermove", 2, 350, 150);
  near(v.scale, 100);
});

test("the wheel zooms about the pointer", () => {
  const [v, canvas] = view(), at = { x: 300, y: 100 }, floor = v.toFloor(at);
  const e = fire(canvas, "wheel", { deltaY: -100, clientX: at.x, clientY: at.y });
  assert.ok(e.defaultPrevented);
  near(v.scale, 50 * Math.exp(0.15));
  const { x, y } = v.toScreen(floor);
  near(x, at.x);
  near(y, at.y);
});

test("a view without pan stays where it is", () => {
  const [v, canvas] = view({ pan: false });
  pointer(canvas, "pointerdown", 1, 100, 100);
  pointer(canvas, "pointermove", 1, 150, 75);
  fire(canvas, "wheel", { deltaY: -10, ctrlKey: true, clientX: 0, clientY: 0 });
  near(v.scale, 50 * Math.exp(0.1));
  near(v.x, 0);
});

test("a grab takes the drag until it ends or a second finger comes", () => {
  const calls = [];
  const [v, canvas] = view({ grab: (p) => ({ move: (q) => calls.push(p, q), end: () => calls.push("end") }) });
  pointer(canvas, "pointerdown", 1, 10, 20);
  pointer(canvas, "pointermove", 1, 30, 40);
  pointer(canvas, "pointercancel", 1, 30, 40);
  assert.deepEqual(calls, [{ x: 10, y: 20 }, { x: 30, y: 40 }, "end"]);
  near(v.x, 0);
  pointer(canvas, "pointerdown", 1, 10, 20);
  pointer(canvas, "pointerdown", 2, 50, 20);
  assert.deepEqual(calls.slice(3), ["end"]);
});

test("text is placed in CSS pixels", () => {
  const [v] = view();
  v.text("2 m", { x: 1, y: 1 }, 3, 10);
  assert.deepEqual(v.context.calls.find(([name]) => name === "fillText"), ["fillText", "2 m", 253, 110]);
});

test("colours follow the theme", () => {
  document.documentElement.dataset.theme = "light";
  assert.equal(palette()["laser-area"], "light--laser-area");
  document.documentElement.dataset.theme = "dark";
  fire(globalThis, "themechange");
  assert.equal(palette()["laser-area"], "dark--laser-area");
});
