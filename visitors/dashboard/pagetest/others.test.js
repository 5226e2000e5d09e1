import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, sockets } from "./browser.js";
import { block, frame, near } from "./data.js";
import { placeOf, rayEcho, raysPoints } from "../page/geometry.js";
import { fixOf, reachOf, rowsOf } from "../page/gps.js";
import { described } from "../page/imu.js";
import { Control, channelsOf } from "../page/io.js";
import { listed, othersOf, ranging } from "../page/others.js";
import { Robot } from "../page/robot.js";
import { stateOf } from "../page/servo.js";
import { bounds, called, fraction, quantity, stepOf } from "../page/units.js";
import { UNKNOWN, decodeFrame } from "../page/wire.js";

const ray = (fields) => ({ first: 0, count: 1, x_mm: 0, y_mm: 0, heading_deg: 0, step_deg: 0, near_mm: 0, far_mm: 0, cone_deg: 0, ...fields });
const decode = (name, payload) => {
  const data = frame(1, 0, block("\x80", 0, payload));
  return decodeFrame(data, new Map([[128, name]])).blocks[0].data;
};

test("payloads of the interfaces without letters", () => {
  assert.deepEqual([...decode("ranger:0", "00 0a 00 64 ff fe ff ff")], [1, Infinity, NaN]);
  assert.deepEqual([...decode("laser:1", "03 e8 1f ff")], [1, Infinity]);
  assert.deepEqual([...decode("sonar:1", "07 d0 00 00")], [2, NaN]);
  const imu = decode("imu:0", "00 00 03 e8 80 00 00 00 ff ff fc 18" + " 00 00 00 00".repeat(5) + " 00 00 26 4f");
  assert.deepEqual(imu, { angles: [1, NaN, -1], rates: [0, 0, 0], accelerations: [0, 0, 9.807] });
  const gps = decode("gps:0", "01 ff 14 46 f5 78 80 00 00 00 00 00 03 e8 00 00 05 dc ff ff ff ff" + " 00".repeat(8) + " 00 00 01 f4 00 01 5f 90");
  assert.deepEqual(gps, { fix: 1, satellites: NaN, latitude: 34.0194680, longitude: NaN, height: 1, horizontal: 1.5, vertical: NaN, speed: 0.5, course: 90 });
  assert.deepEqual(decode("io:0", "00 00 00 01 80 00 00 00"), [1, NaN]);
  assert.deepEqual(decode("servo:0", "00 00 00 05 80 00 00 00 83"), [{ position: 5, goal: NaN, moving: true, power: true, limit: false, failed: false }]);
  assert.equal(decode("servo:0", "00 00 00 05 80 00 00 00 00")[0].power, undefined);
  assert.deepEqual(decode("goto:0", "03 00 00 07 00 00 11 94 ff ff fb 50 ff ff ff ff ff ff"), { state: 3, reason: 0, tag: 7, x: 4.5, y: -1.2, distance: NaN });
  for (const name of ["imu:0", "gps:0", "ranger:0", "goto:0"]) assert.equal(decode(name, "00"), null); // too short
  assert.equal(decode("unheard:0", "00 01"), null);
});

test("a ranger that is a laser again is left out, and one from the same place is not watched", () => {
  const laser = [ray({ count: 361, x_mm: 80, heading_deg: -90, step_deg: 0.5 })];
  const others = ["ranger:0", "ranger:1", "ranger:2", "imu:0", "position:1"].map((name, i) => ({ name, code: 128 + i, driver: "stage" }));
  const rays = { l: laser, "ranger:0": laser, "ranger:1": [ray({ count: 1081, x_mm: 80 })], "ranger:2": [ray({ x_mm: -200 })] };
  const list = othersOf({ others, rays, channels: {} });
  assert.deepEqual(list.map(({ label, wanted }) => [label, wanted]), [["Ranger 1", false], ["Ranger 2", true], ["IMU", true]]);
  const many = Array.from({ length: 300 }, (_, i) => ({ name: `io:${i}`, code: 0, driver: "" }));
  assert.equal(othersOf({ others: many, rays: {}, channels: {} }).filter(({ wanted }) => wanted).length, 4);
  assert.equal(listed({ others: list }).length, 10);
  assert.equal(listed({}).length, 7);
});

test("where readings look", () => {
  const [left, none, missing] = raysPoints([ray({ count: 3, x_mm: 100, heading_deg: 90, far_mm: 5000 })], Float32Array.of(2, Infinity, NaN));
  near(left.x, 0.1), near(left.y, 2), assert.ok(left.echo);
  near(none.y, 5), assert.ok(!none.echo);
  near(missing.y, 0), assert.ok(!missing.echo);
  assert.equal(raysPoints([ray({ count: 9 })], Float32Array.of(1)).length, 1); // fewer readings than rays
  assert.ok(!rayEcho(ray({ cone_deg: 15, far_mm: 5000 }), 5));
  assert.ok(rayEcho(ray({ far_mm: 5000 }), 5));
});

test("a robot asks for its devices by name", () => {
  const robot = new Robot({ name: "r", address: "robot:6665" });
  robot.watch();
  const socket = sockets.at(-1);
  socket.open();
  socket.receive({ access: { p: "r" } });
  const equipment = { others: [{ name: "ranger:0", code: 200, driver: "d" }], rays: { "ranger:0": [ray({ count: 2 })] }, channels: {} };
  socket.receive(equipment);
  assert.deepEqual(socket.sent.splice(0), [{ open: ["ranger:0"] }]);
  const data = (count) => frame(1, 0, block("\xc8", 0, [0, 1, ...Array(2 * count).fill(1)]));
  socket.receive(data(2));
  assert.equal(ranging(robot).length, 1);
  socket.sent.length = 0;
  socket.receive(data(3));
  socket.receive(data(3)); // its rays are asked for once
  assert.deepEqual(socket.sent.filter((m) => m.open), [{ open: ["ranger:0"] }]);
  socket.receive({ access: { "ranger:0": "r" } });
  robot.want("ranger:0", false);
  assert.deepEqual(socket.sent.at(-1), { close: ["ranger:0"] });
  assert.equal(robot.data["ranger:0"], undefined);
  socket.receive({ ...equipment, others: [] });
  assert.equal(robot.devices.has("ranger:0"), false);
  robot.unwatch();
});

test("units", () => {
  assert.deepEqual([quantity(12600, "mV"), quantity(-1500, "mdeg"), quantity(1, "bit"), quantity(7, "lux"), quantity(NaN, "mV"), quantity(3, "-")],
    ["12.60 V", "-1.5°", "on", "7 lux", "–", "3"]);
  assert.equal(bounds({ min: UNKNOWN, max: 5 }), null);
  assert.equal(fraction(20, { min: 0, max: 10 }), 1);
  assert.equal(stepOf({ min: -90000, max: 90000 }), 1000);
  assert.equal(stepOf({ min: 0, max: 5 }), 1);
  assert.equal(called({ name: "", role: "input", number: 3 }), "Input 3");
  assert.deepEqual(channelsOf([], 1, "joint"), [{ number: 0, role: "joint", unit: "-", min: 0, max: 0, name: "" }]);
});

test("a control sends the newest value, and rests then", () => {
  const sent = [], control = new Control((value) => sent.push(value));
  control.set(1), control.set(2);
  clock.advance(80);
  assert.deepEqual(sent, [2]);
  assert.ok(!control.rests);
  clock.advance(2000);
  assert.ok(control.rests);
});

test("texts of gps, imu and joints", () => {
  const gps = { fix: 4, satellites: 12, latitude: 34, longitude: -118, height: NaN, horizontal: 0.02, vertical: NaN, speed: NaN, course: NaN };
  assert.deepEqual(fixOf(gps), ["RTK fix · 12 satellites", "good"]);
  assert.deepEqual(rowsOf(gps).map(([, text]) => text), ["34.0000000° N", "118.0000000° W", "± 2 cm", "–", "–"]);
  assert.equal(rowsOf({ ...gps, fix: 0 })[0][1], "–");
  const track = { latitude: 34, longitude: -118, points: [{ x: 0, y: 100, jump: false }] };
  near(reachOf(gps, track), 115);
  near(placeOf({ latitude: 34, longitude: -179.9999 }, { latitude: 34, longitude: 179.9999 }).x, 0.0002 * 111195.08 * Math.cos(34 * Math.PI / 180));
  assert.equal(described({ angles: [2, NaN, -30], rates: [], accelerations: [] }), "roll 2 degrees left side up, pitch not measured, yaw 30 degrees to the right");
  assert.deepEqual(stateOf({ power: false, moving: true }), ["no power, moves", "warn"]);
});
