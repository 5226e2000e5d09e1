import assert from "node:assert/strict";
import test from "node:test";
import { Element, clock, settle } from "./browser.js";
const { Log } = await import("../page/log.js");

const list = new Element(), log = new Log(list);
let asked = [], reply;
globalThis.fetch = async (path) => {
  asked.push(path);
  if (!reply) throw new Error("refused");
  return reply;
};
const lines = (last, ...lines) => ({ ok: true, json: async () => ({ last, lines }) });
const shown = () => list.children.map((row) => row.children.map((span) => span.textContent).join("|"));

test("nothing is asked for while the drawer is closed", async () => {
  clock.advance(10000);
  await settle();
  assert.deepEqual(asked, []);
});

test("new lines are added, and hostile ones stay text", async () => {
  reply = lines(2, { level: "info", ts: "2026-11-22T10:03:09.123Z", msg: "client connected", client: "10.0.0.7:1", clients: 1 },
    { level: "warn", ts: "2026-11-22T10:03:10.000Z", msg: "<img src=x onerror=alert(1)>", name: "</li><script>", list: [1] });
  await log.show(true);
  assert.deepEqual(shown(), ["10:03:09|info|client connected|client=10.0.0.7:1  clients=1", "10:03:10|warn|<img src=x onerror=alert(1)>|name=</li><script>  list=[1]"]);
  assert.ok(list.children.every((row) => row.innerHTML === undefined));
  reply = lines(3, { level: "error", ts: "", msg: "third" });
  clock.advance(1000);
  await settle();
  assert.deepEqual(asked, ["log?after=0", "log?after=2"]);
  assert.equal(shown().length, 3);
  assert.equal(list.children[2].dataset.level, "error");
});

test("the server is lost, and another one comes", async () => {
  reply = null;
  clock.advance(1000);
  await settle();
  assert.match(shown().at(-1), /The server does not answer/);
  clock.advance(1000);
  await settle();
  assert.equal(shown().length, 4); // it is said once
  reply = { ok: false, text: async () => "your computer may nothing" };
  clock.advance(1000);
  await settle();
  assert.match(shown().at(-1), /may nothing/);
  reply = lines(1, { level: "info", ts: "", msg: "serving" });
  clock.advance(1000);
  await settle();
  assert.deepEqual(shown(), ["|info|serving|"]);
});

test("the drawer is bounded", async () => {
  for (let i = 2; i < 5; i++) {
    reply = lines(400 * i, ...Array.from({ length: 400 }, () => ({ level: "info", ts: "", msg: "again" })));
    clock.advance(1000);
    await settle();
  }
  assert.equal(list.children.length, 500);
  await log.show(false);
  asked = [];
  clock.advance(10000);
  await settle();
  assert.deepEqual(asked, []);
});
