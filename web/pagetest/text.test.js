import assert from "node:assert/strict";
import { test } from "node:test";
import * as text from "../page/text.js";

const meter = (rate, age) => ({ rate: () => rate, age: () => age });

test("position", () => {
  const p = { x: 1.234, y: -0.5, heading: Math.PI / 2, speed: 0.3, turn: -Math.PI / 4 };
  assert.equal(text.pose(p), "1.23, -0.50 m, 90°");
  assert.equal(text.velocity(p), "300 mm/s, -45 °/s");
  assert.equal(text.pose(undefined), "–");
  assert.equal(text.velocity(undefined), "–");
});

test("distance and direction", () => {
  assert.equal(text.distance({ distance: 1.5, angle: 0.001 }), "1.50 m, ahead");
  assert.equal(text.distance({ distance: 1.5, angle: 0.5 }), "1.50 m, 29° left");
  assert.equal(text.distance({ distance: 1.5, angle: -0.5 }), "1.50 m, 29° right");
  assert.equal(text.distance(null), "–");
});

test("a robot's state", () => {
  const robot = { state: "live", address: "a:1", reason: "connection refused", frames: meter(19.96), bytes: meter(4321), dropped: 2, data: {} };
  assert.equal(text.traffic(robot), "20.0 frames/s · 4.3 kB/s · 2 dropped");
  assert.equal(text.card(robot), "20 Hz");
  assert.equal(text.card({ ...robot, data: { m: { volts: 12.34 } } }), "20 Hz · 12.3 V");
  assert.equal(text.robotError(robot), "");
  robot.state = "lost";
  assert.equal(text.robotError(robot), "a:1: connection refused");
  assert.equal(text.traffic(robot), "");
  assert.equal(text.card(robot), "lost");
  assert.equal(text.robotState({ state: "off" }), "not watched");
});

test("the driver", () => {
  const driver = { note: "", moving: false, sent: [0, 0], held: "" };
  assert.equal(text.drive(driver), "hands off");
  assert.equal(text.drive({ ...driver, held: "zp" }), "in control");
  assert.equal(text.drive({ ...driver, moving: true, sent: [300, -60] }), "300 mm/s · -60 °/s");
  assert.equal(text.drive({ ...driver, moving: true, note: "stopped" }), "stopped");
});

test("simulated time", () => {
  assert.equal(text.simulation({ time: 1.25, finished: false }), "1.3 s");
  assert.equal(text.simulation({ time: 2, finished: true }), "2.0 s · finished");
});

test("a device's chip", () => {
  const chip = (device, robot = {}) => {
    const d = { wanted: true, access: "r", meter: meter(10, 0.05), ...device };
    return text.chip({ state: "live", data: { l: [] }, devices: new Map([["l", d]]), ...robot }, "l", { old: 0.5, dead: 2 });
  };
  assert.deepEqual(chip(), ["good", "10 Hz", "50 ms"]);
  assert.deepEqual(chip({ meter: meter(9.94, 0.6) }), ["warn", "9.9 Hz", "600 ms"]);
  assert.deepEqual(chip({ meter: meter(9.96, 2.25) }), ["bad", "10 Hz", "2.3 s"]);
  assert.deepEqual(chip({}, { data: {} }), ["warn", "no data yet", ""]);
  assert.deepEqual(chip({ access: "" }), ["", "starting", ""]);
  assert.deepEqual(chip({ access: "e" }), ["absent", "not there", ""]);
  assert.deepEqual(chip({}, { state: "lost" }), ["bad", "lost", ""]);
  assert.deepEqual(chip({}, { state: "off" }), ["", "off", ""]);
  assert.deepEqual(chip({ wanted: false, access: "e" }), ["", "off", ""]);
});

test("camera", () => {
  assert.equal(text.blobCount(undefined), "");
  assert.equal(text.blobCount([]), "no blobs");
  assert.equal(text.blobCount([{}]), "1 blob");
  assert.equal(text.blobCount([{}, {}]), "2 blobs");
  assert.equal(text.ptz({ pan: 30, tilt: -10, zoom: 0 }), "30° L · 10° dn · 49° wide");
  assert.equal(text.ptz(undefined), "");
});

test("gripper", () => {
  assert.equal(text.gripper(undefined), "");
  assert.equal(text.gripper({ state: 1 | 32, beams: 0 }), "paddles open · lift down");
  assert.equal(text.gripper({ state: 2 | 4 | 64, beams: 4 }), "paddles moving · lift moving · something between");
  assert.equal(text.gripper({ state: 8 | 128, beams: 12 }), "paddles error · lift error · holds something");
  assert.equal(text.gripper({ state: 0, beams: 0 }), "paddles between · lift between");
});

test("bumpers and wheels", () => {
  assert.deepEqual(text.body({}), { text: "", alarm: false });
  assert.deepEqual(text.body({ m: { front: 0, rear: 0 }, p: { stall: false } }), { text: "bumpers clear", alarm: false });
  assert.deepEqual(text.body({ m: { front: 0b10101, rear: 1 } }), { text: "bumpers: 3 front, 1 rear", alarm: true });
  assert.deepEqual(text.body({ m: { front: 0, rear: 0 }, p: { stall: true } }), { text: "bumpers clear · wheels stalled", alarm: true });
});
