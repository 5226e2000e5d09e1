import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, replies, settle, sockets } from "./browser.js";
import { block, frame, near } from "./data.js";
import { HULL, MOUNTS } from "../page/pioneer.js";
import { Robot } from "../page/robot.js";

// live returns a robot whose stream has been granted everything, and its socket.
function live() {
  const robot = new Robot({ name: "r", address: "robot:6665" });
  robot.watch();
  const socket = sockets.at(-1);
  socket.open();
  socket.receive({ access: Object.fromEntries([..."plsmgzv"].map((letter) => [letter, "r"])) });
  return [robot, socket];
}

const position = (mm) => block("p", 1000, [0, 0, 0, 0, 0, 0, mm >> 8, mm & 255, ...Array(13).fill(0)]);

test("watching", () => {
  const robot = new Robot({ name: "r", address: "robot:6665" });
  assert.equal(robot.state, "off");
  assert.equal(robot.mover, -1);
  robot.watch();
  robot.watch(); // once is enough
  const socket = sockets.at(-1);
  assert.equal(sockets.length, 1);
  assert.equal(socket.url.pathname, "/stream");
  assert.equal(robot.state, "connecting");
  assert.equal(socket.url.searchParams.get("rate"), "20");
  assert.equal(socket.url.searchParams.get("request"), "prlrsrmrgrzrvr");
  robot.setRate(10);
  robot.want("v", false);
  assert.deepEqual(socket.sent, []);
  socket.open();
  assert.deepEqual(socket.sent, [{ rate: 10 }, { request: "vc" }]);
  robot.want("v", true);
  socket.receive({ access: { p: "r", l: "e" }, refused: { l: { why: "right", text: "no" } } });
  assert.equal(robot.devices.get("l").refused.text, "no");
  assert.equal(robot.state, "live");
  assert.equal(robot.devices.get("p").access, "r");
  assert.equal(robot.devices.get("l").access, "e");
  robot.unwatch();
  assert.equal(robot.state, "off");
  assert.equal(socket.readyState, 3);
  socket.receive({ access: { p: "r" } }); // too late
  socket.end("closed");
  assert.equal(robot.state, "off");
});

test("data that the page comes with", () => {
  const newest = Buffer.from(frame(0, 0, position(1500))).toString("base64");
  const robot = new Robot({ name: "r", address: "robot:6665", newest });
  robot.watch();
  assert.equal(robot.state, "connecting");
  near(robot.data.p.x, 1.5);
  robot.unwatch();
  robot.watch();
  assert.deepEqual(robot.data, {}); // it is not the newest any more
  robot.unwatch();
});

test("a frame", () => {
  const [robot, socket] = live();
  let changes = 0;
  robot.addEventListener("change", () => changes++);
  socket.receive(frame(3, 2, position(1500), block("m", 0, "010079")));
  assert.equal(new DataView(socket.sent.at(-1)).getUint32(0), 3);
  assert.equal(changes, 1);
  assert.equal(robot.dropped, 2);
  near(robot.data.p.x, 1.5);
  near(robot.data.m.volts, 12.1);
  assert.deepEqual(robot.trail.map(({ x }) => x), [1.5]);
  socket.receive(frame(4, 2, position(1600), block("m", 0, "")));
  assert.equal(robot.data.m, undefined); // there is none any more
  assert.equal(robot.trail.length, 2);
  clock.advance(100);
  assert.ok(robot.devices.get("p").meter.age() > 0);
  robot.unwatch();
});

test("subscriptions", () => {
  const [robot, socket] = live();
  socket.receive(frame(1, 0, position(100)));
  socket.sent = [];
  robot.want("p", false);
  assert.equal(robot.data.p, undefined);
  socket.receive(frame(2, 0, position(200))); // was on its way
  assert.equal(robot.data.p, undefined);
  robot.devices.get("l").access = "e";
  robot.want("l", false); // nothing to close
  robot.want("p", true);
  assert.equal(robot.devices.get("p").access, "");
  robot.setRate(50);
  assert.deepEqual(socket.sent.filter((m) => !(m instanceof ArrayBuffer)), [{ request: "pc" }, { request: "pr" }, { rate: 50 }]);
  robot.unwatch();
});

test("what is set while a robot is lost is requested later", () => {
  const [robot, socket] = live();
  socket.end();
  robot.setRate(5);
  robot.want("v", false);
  clock.advance(1000);
  const again = sockets.at(-1);
  again.open();
  assert.deepEqual(again.sent, []);
  assert.deepEqual([again.url.searchParams.get("rate"), again.url.searchParams.get("request")], ["5", "prlrsrmrgrzr"]);
  robot.unwatch();
});

test("a lost robot is tried again, ever more rarely", () => {
  const [robot, socket] = live();
  socket.receive(frame(1, 0, position(100)));
  socket.end("connection refused");
  assert.equal(robot.state, "lost");
  assert.equal(robot.reason, "connection refused");
  assert.deepEqual(robot.data, {});
  for (const seconds of [1, 2, 4, 8, 8]) {
    const { length } = sockets;
    clock.advance(seconds * 1000 - 1);
    assert.equal(sockets.length, length, `before ${seconds} s`);
    clock.advance(1);
    assert.equal(sockets.length, length + 1, `after ${seconds} s`);
    sockets.at(-1).end();
  }
  assert.match(robot.reason, /no connection to the server/);
  clock.advance(8000);
  sockets.at(-1).open();
  sockets.at(-1).receive({ access: {} }); // it answers: the next loss is tried soon
  sockets.at(-1).end();
  const { length } = sockets;
  clock.advance(1000);
  assert.equal(sockets.length, length + 1);
  sockets.at(-1).end();
  robot.unwatch();
  clock.advance(60000);
  assert.equal(sockets.length, length + 1);
});

test("the shape that the driver knows", async () => {
  const outline = [{ X: 0.2, Y: 0.1 }], sonars = [{ X: 0.1, Y: 0.1, Heading: 1 }];
  replies["shape?robot=robot%3A6665"] = { ok: true, status: 200, json: async () => ({ Outline: outline, Sonars: sonars }) };
  const [robot] = live();
  await settle();
  assert.deepEqual(robot.shape, [outline]);
  assert.deepEqual(robot.mounts, { ...MOUNTS, Sonars: sonars });
  replies["shape?robot=robot%3A6665"] = { ok: true, status: 204 };
  const [pioneer] = live();
  await settle();
  assert.deepEqual([pioneer.shape, pioneer.mounts], [[HULL], MOUNTS]);
});

test("the simulator's shape and mounts", () => {
  const robot = new Robot({ name: "r", address: "robot:6665", mover: 2 });
  const outline = [{ X: 0, Y: 0 }], laser = { X: 0.2, Y: 0, Heading: 0 };
  robot.setBuild({ mounts: { Laser: laser, Camera: null, Sonars: [], SonarFOV: 0.5 }, parts: [{ outlines: [outline] }, { outlines: [outline, outline] }] });
  assert.deepEqual(robot.mounts, { Laser: laser, Camera: MOUNTS.Camera, Sonars: [], SonarFOV: 0.5 });
  assert.equal(robot.shape.length, 3);
  robot.data.l = new Float32Array(361).fill(8.191);
  robot.data.l[180] = 1;
  near(robot.nearest().distance, 1.2);
});
