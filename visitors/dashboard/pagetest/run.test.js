import assert from "node:assert/strict";
import test from "node:test";
import { clock, element, fire, settle } from "./browser.js";
const { Run } = await import("../page/run.js");

const run = new Run();
const start = 1785232800e9;
let asked = [], reply;
globalThis.fetch = async (path, { method }) => {
  asked.push(`${method} ${path}`);
  if (!reply) throw new Error("refused");
  return reply;
};
const ok = (report) => (reply = { ok: true, json: async () => report });
const playback = (more) => ({ write: true, playback: { start, end: start + 100e9, time: start + 10e9, speed: 2, state: "playing", ...more } });
const click = async (id) => {
  fire(element(id), "click");
  await settle();
};

test("a robot that is neither replayed nor recorded costs nothing", async () => {
  run.show({ address: "a:1" });
  clock.advance(10000);
  await settle();
  assert.deepEqual(asked, []);
  assert.ok(element("playback").hidden && element("record").hidden);
});

test("a replay goes on between two requests", async () => {
  ok(playback());
  await run.show({ address: "a:1", run: true });
  assert.deepEqual(asked, ["GET run?robot=a%3A1"]);
  assert.ok(!element("playback").hidden && element("record").hidden);
  assert.equal(element("play-time").textContent, "0:10 / 1:40");
  assert.equal(element("play").textContent, "Pause");
  assert.equal(element("play-speed").value, "2");
  clock.advance(900);
  run.update();
  assert.equal(element("seek").value, "11.8");
});

test("it is paused, sought and slowed down", async () => {
  asked = [];
  ok(playback({ state: "paused" }));
  await click("play");
  assert.equal(element("play").textContent, "Play");
  assert.equal(element("play-time").textContent, "0:10 / 1:40 paused");
  clock.advance(500);
  run.update();
  assert.equal(element("seek").value, "10");
  await click("play");
  fire(element("seek"), "pointerdown");
  element("seek").value = "75.5";
  clock.advance(400);
  run.update();
  assert.equal(element("seek").value, "75.5"); // a user who drags it is not disturbed
  fire(element("seek"), "pointerup");
  fire(element("seek"), "change");
  await settle();
  element("play-speed").value = "0.5";
  fire(element("play-speed"), "change");
  await settle();
  assert.deepEqual(asked.filter((a) => a.startsWith("POST")), ["POST playback?robot=a%3A1&pause=1", "POST playback?robot=a%3A1&pause=0",
    "POST playback?robot=a%3A1&seek=1785232875500000000", "POST playback?robot=a%3A1&speed=0.5"]);
});

test("a playback that is not heard of does not go on by itself", async () => {
  ok(playback({ state: "playing", speed: 1 }));
  await run.ask();
  const at = run.position(run.playback);
  clock.advance(500);
  assert.equal(run.position(run.playback), at + 0.5);
  await settle();
  await run.ask();
  reply = new Promise(() => {}); // it hangs
  const { length } = asked, now = run.position(run.playback);
  clock.advance(60000);
  assert.equal(run.position(run.playback), now + 2);
  assert.equal(asked.length, length + 1);
});

test("an answer ends the complaint that there is none", async () => {
  run.asking = null; // the request that hung has ended
  reply = null;
  await run.ask();
  assert.equal(element("run-note").textContent, "The server does not answer.");
  ok(playback());
  await run.ask();
  assert.equal(element("run-note").textContent, "");
});

test("who may not write, and a log without clients or with steps", async () => {
  for (const report of [{ ...playback(), write: false }, playback({ state: "off" }), playback({ steps: true })]) {
    ok(report);
    await run.ask();
    for (const id of ["play", "seek", "play-speed"]) assert.ok(element(id).disabled && element(id).title, id);
  }
  ok(playback());
  await run.ask();
  assert.ok(!element("play").disabled && !element("play").title);
  reply = { ok: false, text: async () => "your computer may read\n" };
  await click("play");
  assert.equal(element("run-note").textContent, "your computer may read");
  reply = null;
  await click("play");
  assert.equal(element("run-note").textContent, "The server does not answer.");
  ok(playback());
  await click("play");
  assert.equal(element("run-note").textContent, "");
});

test("recording", async () => {
  const recording = (more) => ok({ write: true, recording: { on: false, manual: true, file: "run.mcap", messages: 0, bytes: 0, ...more } });
  recording();
  await run.show({ address: "b:1", run: true });
  assert.ok(element("playback").hidden && !element("record").hidden && !element("record").disabled);
  assert.equal(element("record").textContent, "Record");
  asked = [];
  recording({ on: true, bytes: 2345 });
  await click("record");
  assert.equal(element("record").textContent, "Recording · 2 kB");
  recording({ bytes: 3.45e6, error: "no space left on device" });
  await click("record");
  assert.equal(element("record").textContent, "Recording failed");
  assert.deepEqual(asked, ["POST record?robot=b%3A1&on=1", "POST record?robot=b%3A1&on=0"]);
  recording({ on: true, manual: false, bytes: 3.45e6 });
  await run.ask();
  assert.equal(element("record").textContent, "Recording · 3.5 MB");
  assert.ok(element("record").disabled);
  assert.match(element("record").title, /The configuration records into run.mcap/);
  ok({ write: false, recording: { on: true, manual: true, bytes: 0 } });
  await run.ask();
  assert.ok(element("record").disabled);
  assert.match(element("record").title, /may only watch/);
});
