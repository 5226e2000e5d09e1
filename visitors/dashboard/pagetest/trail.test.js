import assert from "node:assert/strict";
import { test } from "node:test";
import { Element } from "./browser.js";
import { extend, tracePath } from "../page/trail.js";

const limits = { step: 0.1, limit: 3 };

test("points that are near the last one are left out", () => {
  const trail = [];
  for (const x of [0, 0.05, 0.09, 0.11, 0.2]) extend(trail, { x, y: 0 }, limits);
  assert.deepEqual(trail, [{ x: 0, y: 0, jump: true }, { x: 0.11, y: 0, jump: false }]);
});

test("the oldest points go", () => {
  const trail = [];
  for (let i = 0; i < 5; i++) extend(trail, { x: 0, y: i / 5 }, limits);
  assert.deepEqual(trail.map(({ y }) => y), [0.4, 0.6, 0.8]);
});

test("no line to a place that the robot did not drive to", () => {
  const trail = [];
  extend(trail, { x: 0, y: 0 }, limits);
  extend(trail, { x: 0.3, y: 0 }, limits);
  extend(trail, { x: 0.3, y: 0.6 }, limits); // farther than it can drive
  extend(trail, { x: 0.3, y: 0.8 }, limits, true); // dragged
  const c = new Element().getContext();
  tracePath(c, trail);
  assert.deepEqual(c.calls, [["beginPath"], ["lineTo", 0.3, 0], ["moveTo", 0.3, 0.6], ["moveTo", 0.3, 0.8]]);
});
