import assert from "node:assert/strict";
import { test } from "node:test";
import { settle, sockets } from "./browser.js";
import { block, bytes, frame, near } from "./data.js";
import { NO_ECHO, PAGE, acknowledge, connect, decodeFrame, decodePoses } from "../page/wire.js";
import { decodePlan } from "../page/floor.js";

const decode = (letter, payload) => decodeFrame(frame(1, 0, block(letter, 0, payload))).blocks[0].data;

test("header and blocks of a frame", () => {
  const { number, dropped, blocks } = decodeFrame(frame(7, 3, block("m", 1500000, "05 00 7b"), block("s", 0xffffffff, ""), block("?", 10, "00")));
  assert.equal(number, 7);
  assert.equal(dropped, 3);
  assert.deepEqual(blocks, [
    { key: "m", age: 1.5, data: { front: 5, rear: 0, volts: 12.3 } },
    { key: "s", age: 0, data: null },
    { key: "?", age: 0.00001, data: null },
  ]);
});

test("a frame without blocks", () => assert.deepEqual(decodeFrame(frame(1, 0)).blocks, []));

test("position", () => {
  const p = decode("p", "000003e8 fffffc18 000007d0 010e ff38 ffa6 005a 01");
  near(p.time, 1);
  near(p.x, -1);
  near(p.y, 2);
  near(p.heading, (3 * Math.PI) / 2);
  near(p.speed, -0.2);
  near(p.turn, -Math.PI / 2);
  near(p.compass, Math.PI / 2);
  assert.equal(p.stall, true);
});

test("ranges", () => {
  const sonar = decode("s", "1388" + "03e8".repeat(15));
  assert.equal(sonar.length, 16);
  assert.equal(sonar[0], 5);
  assert.equal(sonar[15], 1);
  const laser = decode("l", "1fff".repeat(360) + "1ffe");
  assert.equal(laser.length, 361);
  assert.ok(laser[0] >= NO_ECHO);
  assert.ok(laser[360] < NO_ECHO);
});

test("gripper and camera", () => {
  assert.deepEqual(decode("g", "1104"), { state: 17, beams: 4 });
  assert.deepEqual(decode("z", "ff9c 0019 03ff"), { pan: -100, tilt: 25, zoom: 1023 });
});

test("blobs of two channels", () => {
  // ACTS: two bytes for each of 32 channels, the second its count; ten for each blob; all plus one.
  const header = bytes("0101".repeat(32));
  header[2 * 1 + 1] = 2;
  header[2 * 31 + 1] = 3;
  const blob = (area, ...rest) => [area >> 18, (area >> 12) & 63, (area >> 6) & 63, area & 63, ...rest].map((v) => v + 1);
  const list = decode("v", [...header, ...blob(100, 80, 60, 75, 85, 55, 65), ...blob(4, 1, 2, 0, 1, 2, 3), ...blob(19200, 0, 0, 0, 159, 0, 119)]);
  assert.deepEqual(list, [
    { channel: 1, area: 100, x: 80, y: 60, left: 75, right: 85, top: 55, bottom: 65 },
    { channel: 31, area: 4, x: 1, y: 2, left: 0, right: 1, top: 2, bottom: 3 },
    { channel: 31, area: 19200, x: 0, y: 0, left: 0, right: 159, top: 0, bottom: 119 },
  ]);
});

test("poses", () => {
  const message = bytes("00000009 4029000000000000 40000000 02 3f800000 c0000000 3fc00000 00000000 00000000 00000000").buffer;
  assert.deepEqual(decodePoses(message), {
    number: 9, time: 12.5, speed: 2, paused: false, finished: true,
    poses: [{ x: 1, y: -2, heading: 1.5 }, { x: 0, y: 0, heading: 0 }],
  });
  assert.equal(decodePoses(bytes("00000009 4029000000000000 40000000 01").buffer).paused, true);
});

// The same plan as in TestEncodePlan.
test("floor plan", () => {
  const plan = decodePlan(bytes("bfe0000000000000 bfe0000000000000 3fe0000000000000 00000005 00000003 00 70 00").buffer);
  assert.deepEqual([plan.x, plan.y, plan.resolution, plan.width, plan.height], [-0.5, -0.5, 0.5, 5, 3]);
  const walls = [];
  for (let y = 0; y < 3; y++) for (let x = 0; x < 5; x++) if (plan.wall(x, y)) walls.push([x, y]);
  assert.deepEqual(walls, [[1, 1], [2, 1], [3, 1]]);
});

test("rows of a wide plan are whole bytes", () => {
  const plan = decodePlan(bytes("0000000000000000 0000000000000000 3ff0000000000000 00000009 00000002 0080 8000").buffer);
  assert.ok(plan.wall(8, 0) && plan.wall(0, 1) && !plan.wall(0, 0) && !plan.wall(8, 1));
});

test("acknowledgements", () => {
  const socket = connect("stream", { robot: "[::1]:6665" });
  assert.equal(sockets.at(-1), socket);
  assert.equal(socket.url.href, `ws://robot.example:8080/stream?robot=%5B%3A%3A1%5D%3A6665&page=${PAGE}`);
  assert.equal(socket.binaryType, "arraybuffer");
  acknowledge(socket, 5); // not open yet
  assert.deepEqual(socket.sent, []);
  socket.open();
  acknowledge(socket, 0x01020304);
  assert.deepEqual([...new Uint8Array(socket.sent[0])], [1, 2, 3, 4]);
});

test("a page served by https uses wss", () => {
  const { baseURI } = document;
  document.baseURI = "https://robot.example/";
  assert.equal(connect("world").url.protocol, "wss:");
  document.baseURI = baseURI;
});

test("a socket that was opened before the modules were here", async () => {
  const address = first.address("presence"), socket = new WebSocket(address);
  first.opened.set(address, { socket, events: [{ type: "message", data: "1" }, { type: "close", reason: "full" }] });
  const { length } = sockets, got = [];
  assert.equal(connect("presence"), socket);
  socket.onmessage = ({ data }) => got.push(data);
  socket.onclose = ({ reason }) => got.push(reason);
  await settle();
  assert.deepEqual(got, ["1", "full"]);
  assert.equal(sockets.length, length);
  assert.notEqual(connect("presence"), socket);
});
