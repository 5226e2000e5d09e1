// The client for Node.js. The cases of clients/conformance have the other tests.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import test from "node:test";
import { Worker } from "node:worker_threads";
import {
  ClosedError, GotoError, PlayerClient, PlayerError, ProtocolError, RefusedError, Simulation, TimeoutError, UsageError,
} from "../lib/node.js";
import { answer, asked, block, DATA, DEVICES, hex, join, reply } from "../testing/blocks.js";

const LIMIT = 30_000; // ms, after which a wait has failed
const timeout = LIMIT;

test("no connection", { timeout }, async () => {
  const robot = new PlayerClient("127.0.0.1", 1);
  await assert.rejects(robot.connect(undefined, undefined, LIMIT), { kind: "closed" });
  await assert.rejects(robot.connect("127.0.0.1", 99999, LIMIT), { kind: "closed" });
  await assert.rejects(robot.request("sr", LIMIT), { kind: "closed" });
  assert.throws(() => robot.setFrequency(10), { kind: "closed" });
});

// A socket that still connects would keep the program for minutes.
test("a client that could not connect in time keeps nothing open", { timeout }, async () => {
  const blocked = new Int32Array(new SharedArrayBuffer(4));
  const server = new Worker(`
    const { parentPort, workerData } = require("node:worker_threads");
    const server = require("node:net").createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(workerData, 0, 0); // it takes no connection
    });`, { eval: true, workerData: blocked });
  const [port] = await once(server, "message");
  const waiting = [1, 2, 3, 4].map(() => net.createConnection({ host: "127.0.0.1", port })); // the system's queue is full
  try {
    await once(waiting[0], "connect");
    await once(waiting[1], "connect");
    const before = process.getActiveResourcesInfo().filter((kind) => kind.startsWith("TCP")).length;
    const robot = new PlayerClient("127.0.0.1", port);
    await assert.rejects(robot.connect({ timeoutMs: 100 }), { kind: "timeout" });
    robot.close();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(process.getActiveResourcesInfo().filter((kind) => kind.startsWith("TCP")).length, before);
  } finally {
    for (const socket of waiting) socket.destroy();
    Atomics.store(blocked, 0, 1);
    Atomics.notify(blocked, 0);
    await server.terminate();
  }
});

test("a connection that is lost while the client connects again", { timeout }, async () => {
  const received = [];
  const answers = [
    (socket) => socket.end(reply("pr")),
    (socket) => socket.destroy(),
    (socket) => socket.write(join(reply("pr"), block("p", DATA.p[0]))),
  ];
  const server = net.createServer((socket) => {
    socket.once("data", (bytes) => {
      received.push(Uint8Array.from(bytes));
      answers.shift()(socket);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const robot = new PlayerClient("127.0.0.1", server.address().port);
  await robot.connect(undefined, undefined, LIMIT);
  await robot.request("pr", LIMIT);
  await assert.rejects(robot.read(LIMIT), { kind: "closed" });
  await robot.reconnect(LIMIT);
  await robot.read(LIMIT);
  await assert.rejects(robot.read(0), { kind: "timeout" });
  assert.deepEqual(received, [asked("pr"), asked("pr"), asked("pr")]);
  robot.close();
  server.close();
});

// The devices are listed again, before they are requested.
test("devices of a server that was started anew", { timeout }, async () => {
  const question = join(hex("78790002 7164"), asked("")), received = [];
  const lists = [DEVICES, DEVICES, ["130 laser 1 urg", "131 imu 0 x"], ["130 laser 1 urg", "131 imu 0 x"]];
  let requests = 4; // the last connection stays
  const server = net.createServer((socket) => {
    socket.on("data", (bytes) => {
      if (bytes.length >= question.length) {
        assert.deepEqual(Uint8Array.from(bytes), question);
        socket.write(join(answer("d", ...lists.shift()), reply("")));
      } else {
        const pairs = bytes.subarray(4).toString("latin1");
        received.push(pairs);
        if (--requests > 0) socket.end(reply(pairs));
        else socket.write(reply(pairs));
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const robot = new PlayerClient("127.0.0.1", server.address().port);
  await robot.connect(undefined, undefined, LIMIT);
  assert.equal(await robot.open("imu", "r", LIMIT), "\x82");
  await assert.rejects(robot.read(LIMIT), { kind: "closed" });
  await robot.reconnect(LIMIT);
  assert.equal(robot.access("imu"), "r");
  await assert.rejects(robot.read(LIMIT), { kind: "closed" });
  await assert.rejects(robot.reconnect(LIMIT), (e) => e.kind === "refused" && e.reasons["imu:0"].why === "moved");
  await assert.rejects(robot.read(LIMIT), { kind: "usage" });
  assert.equal(await robot.open("imu", "r", LIMIT), "\x83"); // the new list is known
  await assert.rejects(robot.read(LIMIT), { kind: "closed" });
  await robot.reconnect(LIMIT); // devices that it had before are not requested
  assert.deepEqual(received, ["\x82r", "\x82r", "\x83r", "\x83r"]);
  robot.close();
  server.close();
});

// scripted returns a client of a server that answers each message of the client by a function of its kind and payload, and
// the server's ends of the connections. Both are closed with the test.
async function scripted(t, answerTo) {
  const sockets = [];
  const server = net.createServer((socket) => {
    sockets.push(socket);
    let rest = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt16BE(2)) {
        const size = rest.readUInt16BE(2);
        const answers = answerTo(rest.toString("latin1", 0, 2), rest.subarray(4, 4 + size), socket);
        if (answers) socket.write(answers);
        rest = rest.subarray(4 + size);
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const robot = new PlayerClient({ host: "127.0.0.1", port: server.address().port });
  t.after(() => {
    robot.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await robot.connect({ timeoutMs: LIMIT });
  return { robot, sockets };
}

// granting answers requests as they are, and question d with some devices.
const granting = (devices, data = () => null) => (kind, payload, socket) => {
  if (kind === "dr") return join(reply(payload.toString("latin1")), data(payload, socket) || new Uint8Array(0));
  if (kind === "xy" && payload.toString() === "qd") return answer("d", ...devices);
  return null;
};

test("the server itself by its name, which is in no list", { timeout }, async (t) => {
  const { robot } = await scripted(t, granting(DEVICES));
  for (const name of ["freshness", "freshness:0"]) assert.equal(await robot.open(name, "read", LIMIT), "y");
  assert.equal(robot.access("freshness:0"), "r");
});

test("devices by their names, of which one is asked for only if it has no letter", { timeout }, async (t) => {
  const kinds = [];
  const grant = granting(DEVICES);
  const { robot } = await scripted(t, (kind, payload) => {
    kinds.push(kind + payload.toString("latin1"));
    return grant(kind, payload);
  });
  assert.deepEqual(await robot.request({ sonar: "read", position: "write", "sonar:0": "a", freshness: "read" }, LIMIT),
    { sonar: "read", position: "write", "sonar:0": "all", freshness: "read" });
  assert.deepEqual(await robot.request({ imu: "read", "laser:1": "r", p: "close" }), { imu: "read", "laser:1": "read", p: "close" });
  assert.deepEqual(kinds, ["drsrpwsayr", "xyqd", "dr", "dr\x82r\x80rpc"]);
  assert.deepEqual([robot.access("sonar"), robot.access("imu"), robot.access("position")], ["a", "r", "c"]);
  assert.equal(robot.lasers.length, 2);
  assert.equal(robot.lasers[0], robot.laser);
  assert.deepEqual([robot.lasers[1].length, robot.imus.length, robot.imu.yawMdeg, robot.goto.arrived], [361, 1, null, false]);
  await assert.rejects(robot.request({ gps: "read" }), (e) => e instanceof RefusedError && /gps:0/.test(e.message));
  await assert.rejects(robot.request({ sonar: "maybe" }), UsageError);
  await assert.rejects(robot.request({ "imu:x": "read" }), UsageError);
});

test("a refusal has the names of the request", { timeout }, async (t) => {
  const { robot } = await scripted(t, (kind, payload) => {
    if (kind === "xy" && payload.toString() === "qd") return answer("d", ...DEVICES);
    if (kind === "xy") return answer("e", "laser:1 off it is off", "l hardware it is unplugged");
    return reply(payload.toString("latin1").replace(/(.)[rwa]/g, "$1e"));
  });
  const text = "access is not as requested: device laser asked r granted e: it is unplugged; device laser:1 asked r granted e: it is off";
  await assert.rejects(robot.request({ laser: "read", "laser:1": "read" }), {
    name: "RefusedError", message: text,
    reasons: { laser: { why: "hardware", text: "it is unplugged" }, "laser:1": { why: "off", text: "it is off" } },
  });
});

test("rounds in a loop, with data of two lasers", { timeout }, async (t) => {
  const second = new Uint8Array(722).fill(1);
  const { robot } = await scripted(t, granting(DEVICES, (payload) => payload.length > 0 &&
    join(...Array.from({ length: 3 }, (_, i) => join(block("l", hex("00".repeat(721) + `0${i}`)), block("\x80", second))))));
  await robot.request({ laser: "read", "laser:1": "read" });
  const found = [];
  for await (const { lasers } of robot) {
    found.push([lasers[0][360], lasers[1][0], robot.isNew("laser:1"), robot.isNew("sonar")]);
    if (found.length === 3) break;
  }
  assert.deepEqual(found, [0, 1, 2].map((i) => [i, 257, true, false]));
});

test("a signal ends a wait, and the connection stays", { timeout }, async (t) => {
  let socket;
  const { robot } = await scripted(t, granting([], (_, s) => { socket = s; }));
  await robot.request({ position: "read" });
  const stop = new AbortController();
  const reading = robot.read({ signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(reading, { message: "enough" });
  await assert.rejects(robot.read({ signal: stop.signal }), { message: "enough" });
  await assert.rejects(robot.read({ timeoutMs: 0 }), TimeoutError);
  await assert.rejects(robot.read({ timeoutMs: "soon" }), UsageError);
  socket.write(block("p", DATA.p[0]));
  await robot.read({ signal: new AbortController().signal });
  assert.equal(robot.position.x, DATA.p[2].x);
  await assert.rejects(new PlayerClient("127.0.0.1", 1).connect({ signal: stop.signal }), { message: "enough" });
  const lost = new PlayerClient("127.0.0.1", 1), later = new AbortController();
  const reconnecting = lost.reconnect({ timeoutMs: Infinity, signal: later.signal });
  setImmediate(() => later.abort(new Error("no more")));
  await assert.rejects(reconnecting, { message: "no more" });
  await assert.rejects(new Simulation("127.0.0.1", 1).state({ signal: stop.signal }), { message: "enough" });
});

test("a read without a time limit ends after 10 s", { timeout }, async (t) => {
  const { robot } = await scripted(t, granting([]));
  await robot.request({ position: "read" });
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const reading = robot.read();
  now += 10_000;
  t.mock.timers.tick(10_000);
  await assert.rejects(reading, TimeoutError);
});

test("events", { timeout }, async (t) => {
  const wrong = block("p", hex("00")), right = block("p", DATA.p[0]);
  const { robot, sockets } = await scripted(t, granting([], (payload) => payload.length > 0 && join(right, wrong, right)));
  const events = [];
  for (const type of ["round", "protocol", "closed"]) {
    robot.addEventListener(type, ({ error }) => {
      events.push(error ? error.constructor : type);
      if (events.length === 3) sockets[0].end();
    });
  }
  await robot.request({ position: "read" });
  await assert.rejects(robot.run(), ClosedError);
  assert.deepEqual(events, ["round", ProtocolError, "round", ClosedError]);
});

test("run ends with its signal", { timeout }, async (t) => {
  const { robot } = await scripted(t, granting([]));
  await robot.request({ position: "read" });
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  await robot.run({ signal: stop.signal });
});

test("each kind of error has a class", () => {
  const classes = [[RefusedError, "refused"], [TimeoutError, "timeout"], [ClosedError, "closed"], [ProtocolError, "protocol"],
    [UsageError, "usage"], [GotoError, "goto"]];
  for (const [Kind, kind] of classes) {
    const error = new Kind("why");
    assert.ok(error instanceof PlayerError && error instanceof Error);
    assert.deepEqual([error.kind, error.message, error.name], [kind, "why", Kind.name]);
  }
});

// A goto device, whose data a test gives by state, and with the goal that the client sent or another one.
const goto = (goal, state, reason = 0) => {
  const payload = Buffer.alloc(18, 0xff);
  payload.set([state, reason]);
  goal.copy(payload, 2, 18, 20); // the tag
  goal.copy(payload, 4, 0, 10); // x, y, heading
  return block("\x84", payload);
};

// driving returns a client whose goto device answers each goal by a function of the goal and how many there were.
async function driving(t, data) {
  const goals = [];
  const grant = granting([...DEVICES, "132 goto 0 goto"]);
  const { robot } = await scripted(t, (kind, payload) => {
    if (kind !== "c\x84") return grant(kind, payload);
    goals.push(Buffer.from(payload));
    return data(goals.at(-1), goals.length);
  });
  await robot.request({ goto: "all" });
  return { robot, goals };
}

test("a drive to a goal", { timeout }, async (t) => {
  const idle = Buffer.from(hex("80000000 80000000 FFFF 0000 0000 0000 0000 0000"));
  const { robot, goals } = await driving(t, (goal, n) => (n === 1 ? goto(idle, 0) : goto(goal, n < 4 ? 1 : 2)));
  const there = await robot.goTo({ xMm: 1500.4, yMm: -2500, headingDeg: -1, speedMmPerS: 300 }, { timeoutMs: LIMIT });
  assert.deepEqual([there.xMm, there.yMm, there.headingDeg, there.arrived, there.why], [1500, -2500, 359, true, ""]);
  assert.equal(robot.goto, there);
  assert.equal(goals.length, 4);
  assert.deepEqual(goals[0].subarray(0, 18), Buffer.from(hex("000005DC FFFFF63C 0167 012C 0000 0000 0000")));
  assert.ok(goals.every((goal) => goal.equals(goals[0])), "the goal is repeated with the same tag");
});

test("a goal that the robot gives up, and one that another goal replaces", { timeout }, async (t) => {
  let end = (goal) => goto(goal, 4, 8);
  const { robot, goals } = await driving(t, (goal, n) => (n === 1 ? goto(goal, 1) : end(goal)));
  const aim = { xMm: 1, yMm: 2 };
  await assert.rejects(robot.goTo(aim, LIMIT), (e) => e instanceof GotoError && e.data.reason === 8 && /its motors are off/.test(e.message));
  goals.length = 0;
  end = () => goto(Buffer.alloc(20, 7), 1);
  await assert.rejects(robot.goTo(aim, LIMIT), { kind: "goto", message: "another goal has replaced this one" });
  assert.equal(goals.length, 2); // it does not stop the other one
});

test("a drive that its program ends is stopped", { timeout }, async (t) => {
  const stop = new AbortController();
  const { robot, goals } = await driving(t, (goal, n) => {
    if (n === 3) stop.abort();
    return goto(goal, 1);
  });
  await assert.rejects(robot.goTo({ xMm: 1, yMm: 2 }, { signal: stop.signal }), { name: "AbortError" });
  const end = Buffer.from(hex("80000000" + "00".repeat(16)));
  while (!goals.at(-1).equals(end)) await new Promise(setImmediate);
  const closed = new PlayerClient();
  await assert.rejects(closed.goTo({ xMm: 1, yMm: 2 }), UsageError);
});

test("the colours of vision", { timeout }, async (t) => {
  const grant = granting([...DEVICES, "140 vision 1 x"]);
  const { robot } = await scripted(t, (kind, payload) => (payload.toString() === "qv"
    ? join(answer("v", "v 0 ffa500", "vision:1 31 00FF00 and more"), answer("v", "v 32 000000", "v 1 red", "v 2 12345"))
    : grant(kind, payload)));
  await robot.devices();
  const orange = { device: "v", channel: 0, color: "#ffa500" }, green = { device: "vision:1", channel: 31, color: "#00ff00" };
  assert.deepEqual(await robot.colors(), [orange, green]);
});
