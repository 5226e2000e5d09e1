// The core, from inside: what the cases of clients/conformance do not have.

import assert from "node:assert/strict";
import test from "node:test";
import { REPLY, ROUND, Session } from "../lib/session.js";
import { block, hex, join, NO_BLOBS, reply } from "../testing/blocks.js";

const kind = (want) => (e) => e.kind === want || assert.fail(`${e.kind}: ${e.message}, want ${want}`);

// events returns the new devices of each round, and the text "reply" for each reply.
function events(session, ...pieces) {
  const found = [];
  for (const piece of pieces) {
    session.receive(piece);
    for (let event; (event = session.nextEvent()) !== null; ) found.push(event === ROUND ? session.new : event);
  }
  return found;
}

// opened returns a session whose request was granted.
function opened(pairs) {
  const session = new Session(() => {});
  session.startRequest(pairs);
  session.receive(reply(pairs));
  assert.equal(session.nextEvent(), REPLY);
  return session;
}

test("no data yet", () => {
  const session = opened("srvr");
  assert.deepEqual(events(session, join(block("s", []), block("v", NO_BLOBS))), ["sv"]);
  assert.equal(session.has("s"), false);
  assert.equal(session.has("v"), true);
  assert.deepEqual(session.vision.activeChannels, []);
  assert.deepEqual([...session.sonar], new Array(16).fill(0));
});

test("large blocks", () => {
  const session = opened("Xr"), payload = new Uint8Array(65535).fill(9);
  assert.deepEqual(events(session, block("X", payload).slice(0, 40000), block("X", payload).slice(40000)), ["X"]);
  assert.deepEqual(session.raw("X"), payload);
});

test("bits of the gripper", () => {
  const session = opened("gr");
  events(session, block("g", Uint8Array.of(0b10000001, 0b00100100)));
  const names = Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(session.gripper)));
  const set = names.filter((name) => session.gripper[name] === true);
  assert.deepEqual(set, ["paddlesOpen", "liftError", "outerBeamObstructed", "rightPaddleOpen"]);
});

test("refused", () => {
  const session = new Session(() => {});
  session.startRequest("srlrpa");
  events(session, reply("srlepa"));
  assert.throws(() => session.finishRequest("srlrpa"), { kind: "refused", granted: "srlepa", message: "access is not as requested: device l asked r granted e: the server's log has the reason" });
  assert.deepEqual([..."slpz"].map((device) => session.access(device)), ["r", "e", "a", ""]);
});

test("why a device is refused", () => {
  const sent = [];
  const session = new Session((message) => sent.push(...message));
  session.startRequest("srlr");
  events(session, reply("sele"));
  sent.length = 0;
  assert.ok(session.explain("srlr"));
  assert.deepEqual(sent, [...hex("78790002 7165 64720000".replaceAll(" ", ""))]);
  const answer = Uint8Array.from("e\ns off it is off\n\nl\nll x y\np off it is not e", (c) => c.charCodeAt(0));
  assert.deepEqual(events(session, join(block("Y", answer), reply(""))), ["reply"]);
  assert.throws(() => session.finishRequest("srlr"), (e) => {
    assert.deepEqual(e.reasons, { s: { why: "off", text: "it is off" } });
    assert.match(e.message, /device s asked r granted e: it is off; device l asked r granted e: the server's log/);
    return e.kind === "refused" && e.granted === "sele";
  });
});

test("nothing to read", () => {
  const session = new Session(() => {});
  assert.throws(() => session.checkReadable(), kind("usage"));
  session.startRequest("sr"); // its reply may still come
  session.checkReadable();
  events(session, reply("se"));
  assert.throws(() => session.checkReadable(), kind("usage"));
});

test("other messages", () => {
  const sent = [];
  const session = new Session((message) => sent.push(message));
  session.startRequest("ga");
  events(session, reply("ga"));
  session.setGripper(1);
  session.configure("s", hex("73"));
  assert.deepEqual(sent.slice(1), [hex("63670002 01 00"), hex("78730001 73")]);
});

test("usage", () => {
  const sent = [];
  const session = new Session((message) => sent.push(message));
  session.startRequest("pwzw");
  events(session, reply("pwzw"));
  sent.length = 0;
  for (const call of [
    () => session.setSpeed(NaN, 0),
    () => session.setSpeed(0, Infinity),
    () => session.setSpeed(1),
    () => session.setPTZ(0, "up", 0),
    () => session.configure("position", new Uint8Array(1)),
    () => session.configure("", new Uint8Array(1)),
    () => session.setGripper(1),
    () => session.startRequest("s"),
    () => session.startRequest("\u0442r"),
    () => session.setFrequency(0),
    () => session.setFrequency(65536),
    () => session.setGripper(256),
    () => session.setFresh(true),
    () => session.configure("y", new Uint8Array(513)),
  ]) {
    assert.throws(call, kind("usage"));
  }
  assert.deepEqual(sent, []);
});
