import assert from "node:assert/strict";
import { test } from "node:test";
import { near } from "./data.js";
import { keyInput, padInput, speeds, steers, stickInput, stickOffset } from "../page/steering.js";

const pair = (got, forward, left) => {
  near(got[0], forward, "forward");
  near(got[1], left, "left");
};

test("keys", () => {
  assert.ok(steers("KeyW") && steers("ArrowLeft"));
  assert.ok(!steers("KeyQ") && !steers("Escape"));
  pair(keyInput([]), 0, 0);
  pair(keyInput(["ArrowUp", "KeyA"]), 1, 1);
  pair(keyInput(["ArrowUp", "KeyW"]), 1, 0); // not twice as fast
  pair(keyInput(["ArrowLeft", "ArrowRight"]), 0, 0);
  pair(keyInput(new Set(["KeyS", "KeyD"])), -1, -1);
});

test("the stick's knob stays on its disc", () => {
  assert.deepEqual(stickOffset(20, -40, 80), { x: 0.25, y: -0.5 });
  const { x, y } = stickOffset(300, 400, 80);
  near(x, 0.6);
  near(y, 0.8);
});

test("the stick: up is forward, left is left", () => {
  pair(stickInput({ x: 0, y: -1 }), 1, 0);
  pair(stickInput({ x: -1, y: 0 }), 0, 1);
  pair(stickInput({ x: 0.07, y: -0.07 }), 0, 0); // dead zone
  pair(stickInput({ x: 0, y: 0.54 }), -0.5, 0); // and no step at its edge
});

test("the gamepad drives while a shoulder button is held", () => {
  const pad = { axes: [-1, -0.56, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false })) };
  pair(padInput(pad), 0, 0);
  pad.buttons[0].pressed = true;
  pair(padInput(pad), 0, 0);
  for (const i of [4, 5, 6, 7]) {
    pad.buttons[i].pressed = true;
    pair(padInput(pad), 0.5, 1);
    pad.buttons[i].pressed = false;
  }
  pad.buttons[4].pressed = true;
  pad.axes = [0.1, -0.1]; // a worn stick at rest
  pair(padInput(pad), 0, 0);
  pair(padInput({ axes: [0, 1], buttons: [] }), 0, 0); // fewer buttons than the standard layout
});

test("speeds", () => {
  const limits = { speed: 300, turn: 60 };
  assert.deepEqual(speeds([], limits), [0, 0]);
  assert.deepEqual(speeds([[1, 0], [0.5, -0.5]], limits), [300, -30]);
  assert.deepEqual(speeds([[-1, 0], [-1, 1], [0, 1]], limits), [-300, 60]);
  assert.deepEqual(speeds(new Map([["keys", [0.001, 1]]]).values(), limits), [0, 60]);
});
