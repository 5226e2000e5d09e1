// The core: every block, every split, rounds, ages and messages.

import assert from "node:assert/strict";
import test from "node:test";
import { GRIPPER, REPLY, ROUND, Session } from "../lib/session.js";
import { aged, block, DATA, hex, join, NO_BLOBS, plain, reply } from "../testing/blocks.js";

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

const [P, S, L, M, Z] = [..."pslmz"].map((letter) => block(letter, DATA[letter][0]));

// What the server sent, and what follows from it.
const sessions = {
  "in the order of the request": [[reply("zrprlr"), Z, P, L, Z, P, L], ["reply", "lpz", "lpz"]],
  "incremental opening": [[reply("lr"), L, reply("sr"), L, S, reply("pr"), L, S, P], ["reply", "l", "reply", "ls", "reply", "lps"]],
  "a closed device": [[reply("srprzr"), S, P, Z, reply("sc"), P, Z, reply("lr"), P, Z, L], ["reply", "psz", "reply", "pz", "reply", "lpz"]],
  "write-only in between": [[reply("srpwzr"), S, Z, reply("pa"), S, P, Z], ["reply", "sz", "reply", "psz"]],
  "failed in between": [[reply("srqepr"), S, P], ["reply", "ps"]],
  "a round that broke off": [[reply("srpr"), S, S, P], ["reply", "ps"]],
  "a reply within a round": [[reply("srprmr"), S, reply("sc"), P, M], ["reply", "reply", "mp"]],
  "unknown letters": [[reply("XrUr"), block("X", hex("07")), block("Q", hex("0102030405")), block("U", [])], ["reply", "UX"]],
  "with y": [[reply("sryrpr"), aged(16, 1, 2), S, P, aged(32, 1, 2), S, P], ["reply", "psy", "psy"]],
  "only y": [[reply("yr"), aged(16), aged(32)], ["reply", "y", "y"]],
  "only new data": [[reply("yrsrpr"), aged(16, 1), S, aged(32, 2), P], ["reply", "sy", "py"]],
  "y closed again": [[reply("yrsr"), aged(16, 1), S, reply("yc"), S], ["reply", "sy", "reply", "s"]],
};

for (const [name, [parts, want]] of Object.entries(sessions)) {
  test(`rounds: ${name}`, () => {
    const stream = join(...parts);
    for (const size of [1, 2, 3, 7, stream.length]) {
      const pieces = [];
      for (let at = 0; at < stream.length; at += size) pieces.push(stream.slice(at, at + size));
      assert.deepEqual(events(new Session(() => {}), ...pieces), want, `pieces of ${size} bytes`);
    }
  });
}

for (const [letter, [payload, property, want]] of Object.entries(DATA)) {
  test(`block of ${letter}`, () => {
    const session = opened(letter + "r");
    assert.equal(session.has(letter), false);
    assert.equal(session.raw(letter), null);
    assert.deepEqual(events(session, block(letter, payload)), [letter]);
    assert.deepEqual(plain(session[property]), want);
    assert.equal(session.has(letter), true);
    assert.deepEqual(session.raw(letter), payload);
  });

  test(`wrong size of ${letter}`, () => {
    for (const wrong of [payload.slice(0, -1), join(payload, [1])]) {
      const session = opened(letter + "r");
      session.receive(join(block(letter, wrong), block(letter, wrong), block(letter, payload)));
      for (let i = 0; i < 2; i++) {
        assert.throws(() => session.nextEvent(), kind("protocol"));
        assert.equal(session.has(letter), false);
      }
      assert.equal(session.nextEvent(), ROUND);
      assert.equal(session.has(letter), true);
    }
  });
}

test("every split", () => {
  const letters = Object.keys(DATA).filter((letter) => letter !== "y");
  const pairs = letters.map((letter) => letter + "r").join("");
  const stream = join(reply(pairs), ...letters.map((letter) => block(letter, DATA[letter][0])));
  for (let at = 0; at < stream.length; at++) {
    const session = new Session(() => {});
    session.startRequest(pairs);
    assert.deepEqual(events(session, stream.slice(0, at), stream.slice(at)), ["reply", "gjlmpsvz"], `at ${at}`);
    for (const letter of letters) assert.deepEqual(plain(session[DATA[letter][1]]), DATA[letter][2], `${letter} at ${at}`);
  }
});

test("no data yet", () => {
  const session = opened("srvr");
  assert.deepEqual(events(session, join(block("s", []), block("v", NO_BLOBS))), ["sv"]);
  assert.equal(session.has("s"), false);
  assert.equal(session.has("v"), true);
  assert.deepEqual(session.vision.activeChannels, []);
  assert.deepEqual([...session.sonar], new Array(16).fill(0));
});

test("vision that is none", () => {
  for (const [at, value] of [[0, 2], [7, 0], [7, 12], [64, 0], [64, 65], [68, 0]]) {
    const broken = DATA.v[0].slice();
    broken[at] = value;
    const session = opened("vr");
    session.receive(block("v", broken));
    assert.throws(() => session.nextEvent(), kind("protocol"), `byte ${at}`);
  }
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

test("ages", () => {
  const session = opened("yrsrpr");
  const ages = () => [..."spy"].map((device) => session.ageUs(device));
  assert.deepEqual(ages(), [null, null, null]);
  events(session, join(aged(1000, 7, 0xffffffff), S, block("p", [])));
  assert.deepEqual(ages(), [7, null, null]);
  events(session, join(aged(1500, 1), P)); // the data of sonar is older now
  assert.deepEqual(ages(), [507, 1, null]);
  assert.equal(session.new, "py");
  events(session, reply("yc"));
  assert.deepEqual(ages(), [null, null, null]);
});

test("blocks in the wrong order", () => {
  const session = opened("yrsr");
  for (const wrong of [S, block("y", []), block("y", new Uint8Array(7)), block("y", new Uint8Array(9))]) {
    session.receive(wrong);
    assert.throws(() => session.nextEvent(), kind("protocol"));
  }
  assert.deepEqual(events(session, join(aged(16, 1), S)), ["sy"]);
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

test("more than asked for is a success", () => {
  const session = opened("sr");
  session.startRequest("sw");
  events(session, reply("sa"));
  assert.equal(session.explain("sw"), false);
  assert.equal(session.finishRequest("sw"), "sa");
});

test("a late reply", () => {
  const session = new Session(() => {});
  session.startRequest("sr");
  session.startRequest("pa"); // the first one timed out
  assert.deepEqual(events(session, join(reply("sr"), S, reply("pa"))), ["s", "reply"]);
  assert.equal(session.finishRequest("pa"), "pa");
});

test("the reply of another request", () => {
  const session = opened("sr");
  assert.throws(() => session.finishRequest("pr"), kind("protocol"));
  assert.throws(() => session.finishRequest("srpr"), kind("protocol"));
});

test("nothing to read", () => {
  const session = new Session(() => {});
  assert.throws(() => session.checkReadable(), kind("usage"));
  session.startRequest("sr"); // its reply may still come
  session.checkReadable();
  events(session, reply("se"));
  assert.throws(() => session.checkReadable(), kind("usage"));
});

test("every message", () => {
  const sent = [];
  const session = new Session((message) => sent.push(message));
  session.startRequest("pazaga");
  events(session, reply("pazaga"));
  for (const [send, want] of [
    [() => session.startRequest("yr"), "64720002 7972"],
    [() => session.setSpeed(100, -20), "63700004 0064 FFEC"],
    [() => session.setSpeed(99999, -99999), "63700004 7FFF 8000"],
    [() => session.setPTZ(-30, 10, 512), "637A0006 FFE2 000A 0200"],
    [() => session.setGripper(GRIPPER.gripPress, 20), "63670002 10 14"],
    [() => session.setGripper(1), "63670002 01 00"],
    [() => session.setDataMode(1), "78790002 72 01"],
    [() => session.setFrequency(1000), "78790003 66 03E8"],
    [() => session.requestData(), "78790001 64"],
    [() => session.changeMotorState(true), "78700002 6D 01"],
    [() => session.resetPosition(), "78700001 52"],
    [() => session.changeVelocityControl(1), "78700002 76 01"],
    [() => session.setFresh(false), "78790002 6E 00"],
    [() => session.configure("s", hex("73")), "78730001 73"],
  ]) {
    send();
    assert.deepEqual(sent.at(-1), hex(want));
  }
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
