// The client for Node.js. The cases of clients/conformance have what is not here.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import test from "node:test";
import { PlayerClient } from "../lib/node.js";
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
  await robot.reconnect(LIMIT); // what it had before is not requested
  assert.deepEqual(received, ["\x82r", "\x82r", "\x83r", "\x83r"]);
  robot.close();
  server.close();
});
