import assert from "node:assert/strict";
import { test } from "node:test";
import { stateOf } from "../page/state.js";

const stall = { p: { stall: true } }, volts = (v) => ({ m: { front: 0, rear: 0, volts: v } });
const all = { gone: true, stopped: true, state: "lost", trouble: ["laser lost"], data: { ...stall, m: { front: 4, rear: 0, volts: 11 } } };

// The first true fact is the name; the rest is in the text.
for (const [what, fields, name, text, level, rank] of [
  ["everything", all, "gone", "no connection, was stopped", "", 0],
  ["no server", { gone: true }, "gone", "no connection", "", 0],
  ["everything but the server's silence", { ...all, gone: false }, "stopped", "stopped · lost · laser lost · wheels stalled · bumpers pressed · battery 11.0 V", "bad", 0],
  ["a lost robot of another server that was stopped from here", { ...all, gone: false, here: false }, "lost", "lost, was stopped", "bad", 1],
  ["a stopped robot that has stalled", { stopped: true, data: stall }, "stopped", "stopped · wheels stalled", "bad", 0],
  ["a stopped robot", { stopped: true }, "stopped", "stopped", "bad", 0],
  ["a stopped robot that is not watched", { stopped: true, state: "off" }, "stopped", "stopped", "bad", 0],
  ["a stopped robot while the page connects", { stopped: true, state: "connecting" }, "stopped", "stopped", "bad", 0],
  ["a stopped robot of another server", { stopped: true, here: false }, "stopped", "stopped", "bad", 0],
  ["a lost stream", { state: "lost" }, "lost", "lost", "bad", 1],
  ["a lost stream of another server", { state: "lost", here: false }, "lost", "lost", "bad", 1],
  ["a lost device before a stall", { trouble: ["laser lost", "sonar stale"], data: stall }, "trouble", "laser lost · sonar stale · wheels stalled", "bad", 1],
  ["a stall before a bumper", { data: { ...stall, m: { front: 0, rear: 1, volts: 12 } } }, "trouble", "wheels stalled · bumpers pressed", "bad", 1],
  ["an empty battery", { data: volts(11.2) }, "trouble", "battery 11.2 V", "bad", 1],
  ["trouble of a robot that is not watched", { state: "off", trouble: ["laser failed"] }, "trouble", "laser failed", "bad", 1],
  ["all is well", { data: volts(12.34) }, "live", "20 Hz · 12.3 V", "good", 2],
  ["no data", { silence: () => 2.1, data: volts(12.34) }, "silent", "no data", "", 2],
  ["all is well, without a battery", {}, "live", "20 Hz", "good", 2],
  ["at first", { state: "connecting" }, "connecting", "connecting", "", 2],
  ["somebody else has it", { state: "off", used: true }, "used", "in use", "", 2],
  ["nobody has it", { state: "off" }, "off", "idle", "", 3],
  ["a robot of another server", { state: "off", here: false }, "off", "not watched", "", 3],
]) {
  test(what, () => {
    const robot = { state: "live", gone: false, here: true, stopped: false, trouble: [], used: false, data: {}, frames: { rate: () => 19.96 }, silence: () => 0, ...fields };
    assert.deepEqual(stateOf(robot), { name, text, level, rank });
  });
}
