import assert from "node:assert/strict";
import { test } from "node:test";
import { near } from "./data.js";
import { Viewport } from "../page/viewport.js";

const viewport = (fields) => Object.assign(new Viewport(50), { width: 400, height: 200, x: 1, y: 2 }, fields);
const point = ({ x, y }, wantX, wantY) => {
  near(x, wantX, "x");
  near(y, wantY, "y");
};

test("floor and screen", () => {
  const v = viewport();
  near(v.pixel, 0.02);
  point(v.toScreen({ x: 1, y: 2 }), 200, 100);
  point(v.toScreen({ x: 2, y: 3 }), 250, 50);
  point(v.toFloor({ x: 250, y: 50 }), 2, 3);
  point(v.toFloor(v.toScreen({ x: -7, y: 0.3 })), -7, 0.3);
});

test("zoom keeps a point in place", () => {
  const v = viewport(), fixed = { x: 30, y: 170 }, floor = v.toFloor(fixed);
  v.zoom(3, fixed);
  near(v.scale, 150);
  point(v.toScreen(floor), 30, 170);
  v.zoom(0.1); // without a point: the middle
  point(v.toFloor({ x: 200, y: 100 }), v.x, v.y);
});

test("zoom has limits", () => {
  const v = viewport();
  v.zoom(1e9);
  near(v.scale, 2000);
  v.zoom(1e-9);
  near(v.scale, 4);
});

test("shift moves the floor with the pointer", () => {
  const v = viewport(), before = v.toScreen({ x: 0, y: 0 });
  v.shift(12, -7);
  point(v.toScreen({ x: 0, y: 0 }), before.x + 12, before.y - 7);
});

test("fit shows a rectangle", () => {
  const v = viewport();
  v.fit({ left: -3, right: 1, bottom: 0, top: 4 }, 20);
  point(v, -1, 2);
  near(v.scale, 40); // its height fills the canvas
  point(v.toScreen({ x: -1, y: 4 }), 200, 20);
  v.fit({ left: 0, right: 36, bottom: 0, top: 1 }, 20);
  near(v.scale, 10);
  v.width = v.height = 0; // a hidden canvas
  v.fit({ left: 0, right: 1, bottom: 0, top: 1 });
  near(v.scale, 4);
});
