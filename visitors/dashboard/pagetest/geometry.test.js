import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser.js";
import { near } from "./data.js";
import { laserPoints, lensOf, nearest, obstacles, preview, projected, reach, sameSurface } from "../page/geometry.js";
import { MOUNTS, fieldOfView } from "../page/pioneer.js";

const point = ({ x, y }, wantX, wantY) => {
  near(x, wantX, "x");
  near(y, wantY, "y");
};

// scan has one reading with an echo, at an angle in degrees to the left.
const scan = (deg, range) => {
  const list = new Float32Array(361).fill(8.191);
  list[180 + 2 * deg] = range;
  return list;
};

test("readings of a laser, from right to left", () => {
  const points = laserPoints(new Float32Array(361).fill(2));
  point(points[0], 0, -2);
  point(points[180], 2, 0);
  point(points[360], 0, 2);
  assert.ok(points.every((p) => p.echo));
  assert.equal(laserPoints([0])[0].echo, false);
  assert.equal(laserPoints(scan(0, 8.191)).some((p) => p.echo), false);
});

test("surfaces", () => {
  const p = (x, echo = true) => ({ x, y: 0, echo });
  assert.equal(sameSurface(p(1), p(1.2)), true);
  assert.equal(sameSurface(p(1), p(1.3)), false);
  assert.equal(sameSurface(p(1, false), p(1)), false);
  assert.equal(sameSurface(p(1), p(1, false)), false);
  assert.equal(sameSurface(undefined, p(1)), false);
});

test("obstacles in the robot's frame", () => {
  const mounts = { Laser: { X: 0.1, Y: 0.2, Heading: Math.PI / 2 }, Sonars: [{ X: 0, Y: 0.1, Heading: Math.PI / 2 }, { X: -0.2, Y: 0, Heading: Math.PI }] };
  const [laser, ...sonar] = obstacles({ l: scan(90, 3), s: [1, 2, 0.5] }, mounts); // the third sonar has no mount
  point(laser, -2.9, 0.2);
  assert.equal(sonar.length, 2);
  point(sonar[0], 0, 1.1);
  point(sonar[1], -2.2, 0);
  assert.deepEqual(obstacles({ s: [5, 0] }, mounts), []); // no echo, no data
  assert.deepEqual(obstacles({}, mounts), []);
});

test("the nearest obstacle", () => {
  assert.equal(nearest([]), null);
  const { distance, angle } = nearest([{ x: 3, y: 4 }, { x: 0, y: -1.5 }, { x: -2, y: 0 }]);
  near(distance, 1.5);
  near(angle, -Math.PI / 2);
});

test("how far most obstacles are", () => {
  assert.equal(reach([], 0.8), undefined);
  near(reach([5, 1, 3, 2, 4].map((x) => ({ x, y: 0 })), 0.8), 5);
  near(reach([5, 1, 3, 2, 4].map((x) => ({ x, y: 0 })), 0.5), 3);
});

test("where a speed leads", () => {
  assert.deepEqual(preview({ speed: 0, turn: 0.01 }, 1), []);
  point(preview({ speed: 0.3, turn: 0 }, 2).at(-1), 0.6, 0);
  point(preview({ speed: -0.3, turn: 0 }, 1).at(-1), -0.3, 0);
  const { x, y } = preview({ speed: 1, turn: Math.PI / 2 }, 1).at(-1); // a quarter of a circle with radius 2/pi
  assert.ok(Math.hypot(x - 2 / Math.PI, y - 2 / Math.PI) < 0.05, `${x}, ${y}`);
});

test("mounts of a Pioneer", () => {
  assert.equal(MOUNTS.Sonars.length, 16);
  for (let i = 0; i < 16; i++) { // left and right are symmetric
    const other = MOUNTS.Sonars[i < 8 ? 7 - i : 23 - i];
    point({ x: MOUNTS.Sonars[i].X, y: MOUNTS.Sonars[i].Y }, other.X, -other.Y);
  }
  near((fieldOfView(0) * 180) / Math.PI, 48.8);
  near((fieldOfView(1023) * 180) / Math.PI, 4.4);
});

// A picture is 90 degrees wide and twice as wide as high: at its edges, a thing a metre
// ahead is a metre to the side, and half a metre above or below.
const lens = { X: 0, Y: 0, Heading: 0, above: 0, tilt: 0, fov: Math.PI / 2 };
const origin = { X: 0, Y: 0, Heading: 0 };
const seen = (deg, range, where = {}, laser = origin) => projected(scan(deg, range), laser, { ...lens, ...where }, 2);

test("a reading is where the picture shows it", () => {
  for (const [name, deg, range, where, x, y] of [
    ["ahead", 0, 2, {}, 0.5, 0.5],
    ["to the left", 30, 2, {}, 0.5 - Math.tan(Math.PI / 6) / 2, 0.5],
    ["to the right", -44, 2, {}, 0.5 + Math.tan((44 * Math.PI) / 180) / 2, 0.5],
    ["below the lens", 0, 2, { above: 0.2 }, 0.5, 0.6],
    ["the lens looks down at it", 0, 2, { above: 2, tilt: -Math.PI / 4 }, 0.5, 0.5],
    ["the lens looks up", 0, 2, { tilt: 0.1 }, 0.5, 0.5 + Math.tan(0.1)],
    ["the head is turned to it", 60, 3, { Heading: Math.PI / 3 }, 0.5, 0.5],
    ["the lens is beside the laser", 0, 2, { Y: -0.5 }, 0.375, 0.5],
  ]) {
    const [p] = seen(deg, range, where);
    near(p.x, x, name);
    near(p.y, y, name);
    assert.equal(p.index, 180 + 2 * deg);
  }
  const [p] = seen(0, 1, {}, { X: 1, Y: 1.5, Heading: -Math.PI / 2 }); // the laser looks to the right
  near(p.x, 0.25);
});

test("what is beside, behind and without echo is not in the picture", () => {
  for (const [deg, range, where] of [[50, 2, {}], [0, 2, { Heading: Math.PI }], [0, 8.191, {}], [0, 0, {}], [0, 1, { X: 0.99 }], [0, 2, { above: 1.1 }]]) {
    assert.deepEqual(seen(deg, range, where), []);
  }
});

test("where a lens is", () => {
  const mount = { X: 0.1, Y: 0.2, Heading: 0.5 };
  assert.deepEqual(lensOf([90, 200, 100, -50, 180, -90], mount, { pan: 1, tilt: 1, zoom: 1 }),
    { fov: Math.PI / 2, above: 0.2, X: 0.1, Y: -0.05, Heading: Math.PI, tilt: -Math.PI / 2 });
  assert.deepEqual(lensOf([180, 0], mount), { fov: Math.PI, above: 0, X: 0.1, Y: 0.2, Heading: 0.5, tilt: 0 });
  const turned = lensOf([180, 0], mount, { pan: 90, tilt: -45, zoom: 0 });
  near(turned.Heading, 0.5 + Math.PI / 2);
  near(turned.tilt, -Math.PI / 4);
});
