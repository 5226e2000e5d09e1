// The client for Node.js. The cases of clients/conformance have what is not here.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import test from "node:test";
import { PlayerClient } from "../lib/node.js";
import { asked, block, DATA, join, reply } from "../testing/blocks.js";

const LIMIT = 30_000; // ms, after which a wait has failed
const timeout = LIMIT;

test("no connection", { timeout }, async () => {
  const robot = new PlayerClient("127.0.0.1", 1);
  await assert.rejects(robot.connect(undefined, undefined, LIMIT), { kind: "closed" });
  await assert.rejects(robot.connect("127.0.0.1", 99999, LIMIT), { kind: "closed" });
  await assert.rejects(robot.request("sr", LIMIT), { kind: "closed" });
  assert.throws(() => robot.setFrequency(10), { kind: "closed" });
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
