import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser.js";
import * as text from "../page/text.js";
import { PAGE } from "../page/wire.js";

const meter = (rate, age) => ({ rate: () => rate, age: () => age });

test("position", () => {
  const p = { x: 1.234, y: -0.5, heading: Math.PI / 2, speed: 0.3, turn: -Math.PI / 4 };
  assert.equal(text.pose(p), "1.23 m, -0.50 m, 90°");
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
  assert.equal(text.traffic(robot), "20.0 frames/s · 4.3 kB/s · 2 rounds dropped");
  assert.equal(text.traffic({ ...robot, gone: true }), "");
  assert.equal(text.robotError(robot), "");
  robot.state = "lost";
  assert.equal(text.robotError(robot), "a:1: connection refused");
  assert.equal(text.traffic(robot), "");
});

test("the driver", () => {
  const driver = { note: "", moving: false, sent: [0, 0], vain: false };
  assert.equal(text.drive(driver), "hands off");
  assert.equal(text.drive({ ...driver, moving: true, vain: true }), "no effect");
  assert.equal(text.drive({ ...driver, order: {} }), "to the goal");
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
    return text.chip({ state: "live", data: { l: [] }, device: () => d, ...robot }, "l", { old: 0.5, dead: 2 });
  };
  assert.deepEqual(chip(), ["good", "10 Hz", "50 ms"]);
  assert.deepEqual(chip({ meter: meter(9.94, 0.6) }), ["warn", "9.9 Hz", "600 ms"]);
  assert.deepEqual(chip({ meter: meter(9.96, 2.25) }), ["bad", "10 Hz", "2.3 s"]);
  assert.deepEqual(chip({}, { data: {} }), ["warn", "no data yet", ""]);
  assert.deepEqual(chip({ access: "" }), ["", "starting", ""]);
  assert.deepEqual(chip({ access: "e" }), ["absent", "not there", ""]);
  assert.deepEqual(chip({ access: "e", refused: { why: "used", text: "process 7 has it open" } }), ["absent", "in use", ""]);
  assert.deepEqual(chip({}, { state: "lost" }), ["bad", "lost", ""]);
  assert.deepEqual(chip({}, { state: "off" }), ["", "off", ""]);
  assert.deepEqual(chip({ wanted: false, access: "e" }), ["", "off", ""]);
});

test("all devices in one line", () => {
  const line = (devices, robot = {}) => text.devices({
    state: "live", data: { l: [], p: {} }, device: (letter) => ({ wanted: true, access: "e", refused: { why: "missing" }, ...devices[letter] }), ...robot,
  }, { old: 0.5, dead: 2 });
  const well = { access: "r", meter: meter(20, 0.05) };
  assert.deepEqual(line({}), ["", "Devices"]);
  assert.deepEqual(line({ l: well, p: { ...well, meter: meter(10, 0.08) } }), ["", "2 devices, 20 Hz, 80 ms old"]);
  assert.deepEqual(line({ p: well, l: { ...well, meter: meter(10, 0.6) } }), ["warn", "1 device, 20 Hz, 50 ms old · laser: 600 ms old"]);
  assert.deepEqual(line({ l: { ...well, meter: meter(0, 3) }, p: { wanted: false }, g: { refused: { why: "used" } } }), ["bad", "laser: 3.0 s old · gripper: in use"]);
  const late = { ...well, meter: meter(2, 1.8) }, all = Object.fromEntries([..."plsm"].map((letter) => [letter, late]));
  assert.deepEqual(line(all, { data: all }), ["warn", "4 devices: 1.8 s old"]);
  assert.deepEqual(line({ l: late, p: late }), ["warn", "position, laser: 1.8 s old"]);
  assert.deepEqual(line({ l: well }, { state: "lost" }), ["bad", "no devices"]);
  assert.deepEqual(line({ l: well }, { state: "off" }), ["", "Devices"]);
  assert.equal(text.robots({ name: "r0" }, "20 Hz", 1), "r0: 20 Hz");
  assert.equal(text.robots({ name: "r0" }, "stopped", 3), "r0: stopped · 3 robots");
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

const client = (name, fields = {}) => ({ address: "10.0.0.7:40000", name, devices: { l: "r", p: "w" }, commander: false, commands: 0, frames: 0, paced: false, ...fields });

test("connections of a browser are one client", () => {
  const all = text.group([
    client("anna", { commands: 20 }),
    client(`browser 10.0.0.9 ${PAGE}`, { address: "127.0.0.1:1", frames: 10 }),
    client(`browser 10.0.0.9 ${PAGE}`, { address: "127.0.0.1:2", devices: { p: "w", g: "w" }, commands: 5, commander: true }),
    client("browser 10.0.0.9 zzzzz", { address: "127.0.0.1:3" }),
    client("", { address: "[fe80::1]:40000", frames: 10, paced: true }),
  ]);
  assert.deepEqual(all.map(text.client), [
    ["10.0.0.7 (anna)", "commands 20/s", "laser: reads\nposition: commands"],
    ["You", "commands 5/s", "laser: reads\nposition: commands\ngripper: commands"],
    ["A browser at 10.0.0.9", "connected", "laser: reads\nposition: commands"],
    ["[fe80::1]", "reads 10/s, slow link", "laser: reads\nposition: commands"],
  ]);
});

test("who drives", () => {
  const says = (control, ...clients) => text.commander({ control }, text.group(clients), false, control === "first");
  const anna = client("anna", { commander: true, commands: 20 }), self = client(`browser 10.0.0.9 ${PAGE}`, { address: "127.0.0.1:1", commands: 10 });
  assert.equal(says("newest"), "Nobody drives.");
  assert.equal(says("newest", anna), "10.0.0.7 (anna) commands, 20 times a second.");
  assert.equal(says("newest", { ...anna, commands: 1 }), "10.0.0.7 (anna) commands, once a second.");
  assert.equal(says("newest", { ...anna, commands: 0 }), "10.0.0.7 (anna) commanded last.");
  assert.equal(says("first", anna), "10.0.0.7 (anna) commands, 20 times a second. Until it pauses for a second, you cannot.");
  assert.equal(says("newest", anna, self), "10.0.0.7 (anna) commands, 20 times a second. You command, too: the robot follows both in turn.");
  assert.equal(says("first", { ...anna, commander: false }, { ...self, commander: true }), "You command, 10 times a second.");
  assert.match(text.commander(undefined, [], false), /^Another server/);
  assert.match(text.commander(undefined, [], true), /not known/);

  const role = (control, ...clients) => text.role({ control }, text.group(clients));
  assert.deepEqual([text.role(undefined, []), role("newest"), role("newest", { ...anna, commands: 0 }), role("newest", anna)],
    ["unknown", "nobody", "last program", "alone program"]);
  assert.deepEqual([role("newest", anna, self), role("first", anna, self), role("first", { ...self, commander: true })], ["both program", "alone program", "alone you"]);
});

test("stops, rights and silence", () => {
  const robots = ["a", "b", "c", "d", "e"].map((name) => ({ name }));
  assert.equal(text.stopped([]), "");
  assert.equal(text.stopped(robots.slice(0, 1)), "a is stopped: no command moves it until the release.");
  assert.equal(text.stopped(robots.slice(0, 2)), "a, b are stopped: no command moves them until the release.");
  assert.match(text.stopped(robots), /^5 robots are stopped/);
  assert.match(text.forbidden({ you: "10.0.0.9", may: "read" }, "write"), /^This computer \(10\.0\.0\.9\) may only watch/);
  assert.match(text.forbidden({ you: "10.0.0.9", may: "read write" }, "config"), /may not configure/);
  const robot = { state: "live", silence: () => 3.2 };
  assert.equal(text.silence(robot, false, 2), "Nothing has come for 3 s: this is old.");
  assert.equal(text.silence(robot, true, 2), ""); // the world is paused
  assert.equal(text.silence(robot, false, 4), "");
  assert.equal(text.silence({ ...robot, state: "lost", retry: 1 }, true, 2), "lost");
  assert.equal(text.silence({ ...robot, state: "connecting", retry: 0 }, true, 2), "");
});

test("goals", () => {
  const goal = (state, reason = 0) => text.goal({ state, reason, distance: 3.24 });
  assert.deepEqual([0, 1, 2, 3].map((state) => goal(state)), ["no goal", "drives: 3.2 m left", "arrived", "sees no way: 3.2 m left"]);
  assert.deepEqual([1, 2, 3, 8].map((reason) => goal(4, reason)), [
    "given up: its client left it", "given up: the wheels got another command", "given up: emergency stop", "given up: motors off"]);
  assert.deepEqual([goal(4, 99), text.goal(undefined)], ["given up", ""]);
  assert.equal(text.goal({ state: 1, reason: 0, distance: NaN }), "drives"); // before the first step
});
