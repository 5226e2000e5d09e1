// The client for Node.js against scripted servers. The cases of clients/conformance have the others.

import assert from "node:assert/strict";
import test from "node:test";
import { PlayerClient } from "../lib/node.js";
import { aged, asked, block, DATA, hex, reply } from "../testing/blocks.js";
import { LIMIT, script } from "../testing/server.js";

const [P, S] = [..."ps"].map((letter) => block(letter, DATA[letter][0]));
const timeout = LIMIT;

async function grant(peer, pairs) {
  await peer.expect(asked(pairs));
  peer.send(reply(pairs));
}

// play runs a client against the scripts of its connections.
async function play(use, ...scripts) {
  const server = await script(...scripts);
  const robot = new PlayerClient("127.0.0.1", server.port);
  try {
    await robot.connect(undefined, undefined, LIMIT);
    await use(robot, server);
  } finally {
    robot.close();
  }
  await server.done();
}

// gate returns a promise and the function that resolves it.
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

test("no connection", { timeout }, async () => {
  const robot = new PlayerClient("127.0.0.1", 1);
  await assert.rejects(robot.connect(undefined, undefined, LIMIT), { kind: "closed" });
  await assert.rejects(robot.connect("127.0.0.1", 99999, LIMIT), { kind: "closed" });
  await assert.rejects(robot.request("sr", LIMIT), { kind: "closed" });
  assert.throws(() => robot.setFrequency(10), { kind: "closed" });
});

test("reconnect", { timeout }, () =>
  play(
    async (robot) => {
      await robot.request("yrsrlrpa", LIMIT);
      robot.setFrequency(50);
      robot.setName("me");
      robot.setFresh(true);
      await robot.request("lc", LIMIT);
      await robot.read(LIMIT);
      await assert.rejects(robot.read(LIMIT), { kind: "closed" });
      await robot.reconnect(LIMIT);
      assert.equal(robot.has("s"), false);
      await robot.read(LIMIT);
      assert.deepEqual([robot.new, robot.ageUs("p"), robot.ageUs("s")], ["py", 3, null]);
      robot.setSpeed(1, 2);
    },
    async (peer) => {
      await grant(peer, "yrsrlrpa");
      await peer.expect(hex("78790003660032 78790003776D65 787900026E01"));
      await grant(peer, "lc");
      peer.send(aged(1000, 7), S);
      await new Promise((resolve) => peer.socket.end(resolve));
    },
    (peer) => peer.expect(hex("78790003776D65 78790003660032"), asked("yrsrpa")), // and is lost again
    async (peer) => {
      await peer.expect(hex("78790003776D65 78790003660032"));
      await grant(peer, "yrsrpa");
      await peer.expect(hex("787900026E01"));
      peer.send(aged(5, 3), P);
      await peer.expect(hex("63700004 0001 0002"));
      await peer.ended();
    },
  ));

test("a network that takes nothing", { timeout }, () => {
  const end = gate();
  return play(
    async (robot) => {
      await robot.request("pa", LIMIT);
      await assert.rejects(robot.read(0), { kind: "timeout" });
      await assert.rejects(
        (async () => {
          for (;;) {
            robot.command("p", new Uint8Array(512));
            await null;
          }
        })(),
        { kind: "closed" },
      );
      end.open();
    },
    async (peer) => {
      await grant(peer, "pa");
      peer.socket.pause();
      await end.opened;
    },
  );
});
