// The client for pages against a scripted dashboard.

import assert from "node:assert/strict";
import test from "node:test";
import { DashboardClient } from "../lib/dashboard.js";
import { DATA, join, plain } from "../testing/blocks.js";

const LIMIT = 30_000; // ms, after which a wait has failed
const SHORT = 20; // ms, of waits that must time out

// fake returns a class of WebSockets that records messages.
function fake() {
  const sockets = [];
  class FakeSocket {
    constructor(url) {
      Object.assign(this, { url, sent: [], readyState: 0 });
      sockets.push(this);
    }
    open() {
      this.readyState = 1;
      this.onopen({});
    }
    send(message) {
      this.sent.push(typeof message === "string" ? JSON.parse(message) : plain(new Uint8Array(message)));
    }
    say(message) {
      this.onmessage?.({ data: typeof message === "string" ? message : message.buffer });
    }
    end(reason) {
      this.readyState = 3;
      this.onclose?.({ reason });
    }
    close() {
      this.closed = true;
    }
  }
  return { sockets, FakeSocket };
}

// message encodes a message of the dashboard with blocks of letter, age and payload.
function message(number, dropped, ...blocks) {
  const parts = [Buffer.alloc(8)];
  parts[0].writeUInt32BE(number);
  parts[0].writeUInt32BE(dropped, 4);
  for (const [letter, age, payload] of blocks) {
    const header = Buffer.alloc(7);
    header.write(letter);
    header.writeUInt32BE(age, 1);
    header.writeUInt16BE(payload.length, 5);
    parts.push(header, payload);
  }
  return join(...parts);
}

async function connected() {
  const { sockets, FakeSocket } = fake();
  const robot = new DashboardClient("ws://dashboard:8080", "robot:6665", FakeSocket);
  const connecting = robot.connect(LIMIT);
  sockets[0].open();
  await connecting;
  return { robot, stream: sockets[0], sockets };
}

test("data and acknowledgements", async () => {
  const { robot, stream } = await connected();
  assert.equal(stream.url, "ws://dashboard:8080/stream?robot=robot%3A6665");
  assert.equal(stream.binaryType, "arraybuffer");
  const letters = Object.keys(DATA);
  stream.say(message(7, 0, ...letters.map((letter) => [letter, 1000, DATA[letter][0]])));
  await robot.read(LIMIT);
  for (const letter of letters) assert.deepEqual(plain(robot[DATA[letter][1]]), DATA[letter][2], letter);
  assert.deepEqual([robot.new, robot.dropped, robot.ageUs("s"), robot.ageUs("q")], ["gjlmpsvz", 0, 1000, null]);
  assert.deepEqual(stream.sent, [[0, 0, 0, 7]]);

  stream.say(message(8, 3, ["s", 0xffffffff, new Uint8Array(0)]));
  assert.deepEqual(stream.sent.length, 1); // acknowledged when it is read
  await robot.read(LIMIT);
  assert.deepEqual([robot.new, robot.dropped, robot.ageUs("s"), robot.has("s"), robot.has("p")], ["s", 3, null, false, true]);
  await assert.rejects(robot.read(SHORT), { kind: "timeout" });

  stream.say(message(9, 3, ["s", 5, new Uint8Array(3)], ["p", 5, DATA.p[0]]));
  await assert.rejects(robot.read(LIMIT), { kind: "protocol" });
  assert.deepEqual([robot.has("s"), robot.has("p"), stream.sent.length], [false, true, 3]);
});

test("requests", async () => {
  const { robot, stream } = await connected();
  const asking = robot.request("srlr", LIMIT);
  stream.say('{"access":{"s":"r","l":"r"}}');
  assert.equal(await asking, "srlr");
  assert.deepEqual(stream.sent, [{ request: "srlr" }]);
  assert.equal(robot.access("s"), "r");

  const refused = robot.request("sczr", LIMIT);
  stream.say('{"access":{"s":"c","l":"r","z":"e"},"refused":{"z":{"why":"off","text":"it is off"}}}');
  await assert.rejects(refused, { kind: "refused", granted: "scze", reasons: { z: { why: "off", text: "it is off" } } });

  await assert.rejects(robot.request("pr", SHORT), { kind: "timeout" });
  const next = robot.request("gr", LIMIT);
  stream.say('{"access":{"p":"r"}}'); // the late one
  stream.say('{"access":{"p":"r","g":"r"}}');
  assert.equal(await next, "gr");

  for (const wrong of ["s", "sw", "pa", "yr"]) await assert.rejects(robot.request(wrong), { kind: "usage" });
  robot.setFrequency(20);
  assert.deepEqual(stream.sent.at(-1), { rate: 20 });
});

test("requests, ages and loops by names", async () => {
  const { robot, stream } = await connected();
  const asking = robot.request({ sonar: "read", laser: "close" }, { timeoutMs: LIMIT });
  stream.say('{"access":{"s":"r","l":"c"}}');
  assert.deepEqual(await asking, { sonar: "read", laser: "close" });
  assert.deepEqual([stream.sent, robot.access("sonar"), robot.lasers.length], [[{ request: "srlc" }], "r", 1]);
  await assert.rejects(robot.request({ imu: "read" }), { name: "UsageError" });
  const refused = robot.request({ sonar: "read", ptz: "read" }, LIMIT);
  stream.say('{"access":{"s":"r","z":"e"},"refused":{"z":{"why":"off","text":"it is off"}}}');
  await assert.rejects(refused, { name: "RefusedError", reasons: { ptz: { why: "off", text: "it is off" } } });
  const events = [];
  robot.addEventListener("round", () => events.push("round"));
  robot.addEventListener("closed", ({ error }) => events.push(error.message));
  stream.say(message(1, 0, ["s", 1000, DATA.s[0]]));
  for await (const { sonar } of robot) {
    assert.deepEqual([plain(sonar), robot.ageUs("sonar"), robot.isNew("sonar"), robot.isNew("laser")], [DATA.s[2], 1000, true, false]);
    break;
  }
  stream.end("gone");
  assert.deepEqual(events, ["round", "gone"]);
});

test("commands", async () => {
  const { robot, sockets } = await connected();
  robot.setSpeed(100, -20);
  robot.changeMotorState(true);
  const drive = sockets[1];
  assert.equal(drive.url, "ws://dashboard:8080/drive?robot=robot%3A6665");
  assert.deepEqual(drive.sent, []);
  drive.open();
  robot.setPTZ(-30, 10, 512);
  robot.setGripper(16, 20);
  robot.resetPosition();
  assert.deepEqual(drive.sent, [{ drive: [100, -20] }, { motors: true }, { look: [-30, 10, 512] }, { grip: [16, 20] }, { reset: true }]);
  drive.say('{"held":"p"}');
  assert.deepEqual([robot.held, robot.commandError], ["p", null]);
  drive.say('{"held":"p","error":"stopped"}');
  assert.equal(robot.commandError, "stopped");
  drive.end("robot gone");
  assert.deepEqual([robot.held, robot.commandError], ["", "robot gone"]);
  robot.setSpeed(1, 1); // tries again
  sockets[2].open();
  assert.deepEqual(sockets[2].sent, [{ drive: [1, 1] }]);
  robot.close();
  assert.ok(sockets[0].closed && sockets[2].closed);
});

test("the end", async () => {
  const { robot, stream, sockets } = await connected();
  const reading = robot.read(LIMIT);
  stream.end("not a Player server");
  await assert.rejects(reading, { kind: "closed", message: "not a Player server" });
  assert.throws(() => robot.setSpeed(1, 1), { kind: "closed" });
  await assert.rejects(robot.request("sr"), { kind: "closed" });

  const connecting = robot.connect(LIMIT); // again
  sockets[1].open();
  await connecting;
  sockets[1].say(message(1, 0, ["s", 1, DATA.s[0]]));
  await robot.read(LIMIT);
  assert.equal(robot.new, "s");
  const waiting = robot.read(LIMIT);
  robot.close();
  await assert.rejects(waiting, { kind: "closed" });
});

test("no connection", async () => {
  const { FakeSocket } = fake();
  const robot = new DashboardClient("ws://dashboard:8080", "robot:6665", FakeSocket);
  await assert.rejects(robot.read(LIMIT), { kind: "closed" });
  await assert.rejects(robot.connect(SHORT), { kind: "timeout" });
  class Wrong {
    constructor() {
      throw new SyntaxError("not an address");
    }
  }
  await assert.rejects(new DashboardClient("", "robot", Wrong).connect(LIMIT), { kind: "closed" });
});
