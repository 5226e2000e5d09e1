// The core, from inside: tests that the cases of clients/conformance do not have.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { blocks } from "../lib/compact.js";
import { interfaceOfLetter } from "../lib/data.js";
import { REPLY, ROUND, Session } from "../lib/session.js";
import { answer, block, DEVICES, hex, join, NO_BLOBS, plain, reply } from "../testing/blocks.js";

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
    () => session.configure("positions", new Uint8Array(1)),
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

// listed returns a session whose server has these devices, and the messages that it sends from then on. Without devices
// it is an older one.
function listed(...devices) {
  const sent = [];
  const session = new Session((message) => sent.push(message));
  session.startQuestion("d");
  events(session, ...(devices.length > 0 ? [answer("d", ...devices)] : []), reply(""));
  session.finishDevices();
  sent.length = 0;
  return [session, sent];
}

test("devices by name", () => {
  const [session, sent] = listed(...DEVICES);
  session.startRequest("\x82r\x83a\x80r");
  assert.deepEqual(events(session, reply("\x82r\x83a\x80r")), ["reply"]);
  const laser = new Uint8Array(722).fill(1);
  const imu = new Uint8Array(36).fill(1, 35), servo = hex("80000000 00000005 8A");
  const round = join(block("\x82", imu), block("\x83", servo), block("\x80", laser));
  assert.deepEqual(events(session, round), ["\x80\x82\x83"]);
  assert.ok(session.has("imu") && session.has("imu:0") && session.has("\x82") && !session.has("gps"));
  assert.equal(session.data("imu").zMmPerS2, 1);
  assert.deepEqual([session.data("laser:1")[360], session.laser[360], session.raw("laser:1").length], [257, 0, 722]);
  const { position, goal, moving, powered, atLimit, failed } = session.data("servo").joints[0];
  assert.deepEqual([position, goal, moving, powered, atLimit, failed], [null, 5, false, true, false, true]);
  assert.deepEqual([session.access("servo"), session.access("laser"), session.ageUs("imu")], ["a", "", null]);
  sent.length = 0;
  session.moveJoint("servo", 1, null, 7);
  session.stopJoints("servo:0");
  session.configure("laser:1", hex("73"));
  const want = ["63830009 01 80000000 00000007", "63830009 FF 80000000 00000000", "78800001 73"];
  assert.deepEqual(sent, want.map(hex));
  for (const call of [
    () => session.moveJoint("servo", 256, 0),
    () => session.moveJoint("servo", 0, 2 ** 31),
    () => session.moveJoint("servo", 0, 0, -1),
    () => session.moveJoint("servo", 0, 0.5),
    () => session.setOutput("io", 0, 1),
    () => session.configure("io", hex("73")),
    () => session.isListed("imu:"),
    () => session.isListed(":1"),
    () => session.isListed("imu:-1"),
  ]) {
    assert.throws(call, kind("usage"));
  }
});

test("which byte a device has", () => {
  const [session] = listed(...DEVICES);
  const codes = ["laser", "laser:0", "laser:1", "imu"].map((name) => session.codeOf(name));
  assert.deepEqual(codes, ["l", "l", "\x80", "\x82"]);
  assert.throws(() => session.codeOf("gps"), (e) => {
    assert.match(e.message, /gps:0: the robot has laser:0, laser:1, imu:0/);
    return e.kind === "refused" && e.reasons["gps:0"].why === "missing";
  });
  const [older] = listed();
  assert.equal(older.codeOf("sonar"), "s");
  assert.throws(() => older.codeOf("sonar:1"), kind("refused"));
  assert.throws(() => older.codeOf("gps"), kind("refused"));
});

test("names in refusals and of parts", () => {
  const [session] = listed(...DEVICES);
  session.startRequest("\x82rlr");
  events(session, reply("\x82ele"));
  assert.ok(session.explain("\x82rlr"));
  events(session, answer("e", "imu:0 hardware unplugged"), answer("e", "l off it is"), reply(""));
  assert.throws(() => session.finishRequest("\x82rlr"), (e) => {
    assert.deepEqual(e.reasons, { "imu:0": { why: "hardware", text: "unplugged" }, l: { why: "off", text: "it is" } });
    assert.match(e.message, /device imu:0 asked r granted e: unplugged; device l asked/);
    return true;
  });
  session.startQuestion("g");
  events(session, answer("g", "laser:1 0 1 2 3 4 5 6 7", "laser:7 0 1 2 3 4 5 6 7", "l 0 0 0 0 0 0 0 0"), reply(""));
  assert.deepEqual(session.finishGeometry().map((part) => part.device), ["laser:1", "l"]);
});

test("what is not known is null", () => {
  const [session] = listed("130 imu 0 x", "131 gps 0 x", "132 io 0 x", "133 ranger 0 x");
  session.startRequest("\x82r\x83r\x84r\x85r");
  const imu = hex("80000000".repeat(9)), io = hex("80000000 00000000");
  events(session, reply("\x82r\x83r\x84r\x85r"), block("\x82", imu), block("\x84", io),
    block("\x83", hex("FFFF" + "80000000".repeat(3) + "FF".repeat(8) + "00".repeat(8) + "FF".repeat(8))),
    block("\x85", hex("000A 0000 FFFD FFFE FFFF")));
  assert.deepEqual(Object.values(session.data("imu")), new Array(9).fill(null));
  assert.deepEqual(Object.values(session.data("gps")), new Array(10).fill(null));
  assert.deepEqual(plain(session.data("io")), { values: [null, 0] });
  assert.deepEqual([0, 1, 2, 3].map((i) => session.data("ranger").mm(i)), [0, 655330, null, null]);
});

test("compact rounds of the encoder", () => {
  const file = new URL("../../../codec/compact/testdata/golden.txt", import.meta.url);
  const golden = readFileSync(file, "utf8").trim().split("\n");
  assert.ok(golden.length > 10);
  const letter = String.fromCharCode;
  for (let i = 0; i < golden.length; i += 2) {
    const found = [...blocks(hex(golden[i]), (code) => (code === 0x52 ? "ranger" : interfaceOfLetter(letter(code))))];
    assert.deepEqual(join(...found.map(([code, payload]) => block(letter(code), payload))), hex(golden[i + 1]));
  }
});

// A round that is not whole is one block less; the next one is read.
test("compact rounds that are none", () => {
  const session = opened("srzr");
  const long = "7A" + "FF".repeat(12);
  for (const item of ["7A05", "7A0700", "7A0502", "7A", "67090202", long, "6C1200000101", "7A158080040000"]) {
    assert.throws(() => events(session, block("Z", hex("7300" + item))), kind("protocol"), item);
    assert.deepEqual(events(session, block("Z", hex("7300 7A0D000201"))), ["sz"]);
  }
  assert.deepEqual(session.ptz, { pan: 0, tilt: 1, zoom: -1 });
});
