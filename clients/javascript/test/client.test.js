// The client for Node.js against scripted servers.

import assert from "node:assert/strict";
import test from "node:test";
import { PlayerClient } from "../lib/node.js";
import { aged, asked, block, DATA, hex, plain, reply } from "../testing/blocks.js";
import { LIMIT, script } from "../testing/server.js";

const [P, S, M] = [..."psm"].map((letter) => block(letter, DATA[letter][0]));
const SHORT = 20; // ms, of waits that must time out
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

test("the first program", { timeout }, () =>
  play(
    async (robot) => {
      assert.equal(await robot.request("srpw", LIMIT), "srpw");
      for (let i = 0; i < 3; i++) {
        await robot.read(LIMIT);
        assert.deepEqual([...robot.sonar], DATA.s[2]);
        robot.setSpeed(100, -20);
      }
    },
    async (peer) => {
      await grant(peer, "srpw");
      for (let i = 0; i < 3; i++) {
        peer.send(S);
        await peer.expect(hex("63700004 0064 FFEC"));
      }
      await peer.ended();
    },
  ));

test("timeouts lose nothing", { timeout }, () => {
  const pieces = [[reply("srpr"), S.slice(0, 1)], [S.slice(1, 20)], [S.slice(20), P.slice(0, 5)], [P.slice(5)]];
  const gates = pieces.map(gate);
  return play(
    async (robot) => {
      await assert.rejects(robot.request("srpr", SHORT), { kind: "timeout" });
      for (let i = 0; i < 3; i++) {
        gates[i].open();
        await assert.rejects(robot.read(SHORT), { kind: "timeout" });
      }
      await assert.rejects(robot.read(0), { kind: "timeout" });
      gates[3].open();
      await robot.read(LIMIT);
      assert.equal(robot.new, "ps");
      assert.deepEqual(robot.position, DATA.p[2]);
    },
    async (peer) => {
      await peer.expect(asked("srpr"));
      for (const [i, piece] of pieces.entries()) {
        await gates[i].opened;
        peer.send(...piece);
      }
      await peer.ended();
    },
  );
});

test("data before the reply", { timeout }, () =>
  play(
    async (robot) => {
      await robot.request("sr", LIMIT);
      await robot.request("pa", LIMIT);
      await robot.read(LIMIT);
      assert.equal(robot.new, "ps");
    },
    async (peer) => {
      await grant(peer, "sr");
      await peer.expect(asked("pa"));
      peer.send(S, S, block("s", hex("31")), reply("pa"), S, P);
      await peer.ended();
    },
  ));

for (const [name, sent] of Object.entries({ "at once": [], "in a block": [S.slice(0, 2)], "in a round": [S, P.slice(0, 10)] })) {
  test(`server gone ${name}`, { timeout }, () =>
    play(
      async (robot) => {
        await robot.request("srpr", LIMIT);
        for (let i = 0; i < 2; i++) await assert.rejects(robot.read(LIMIT), { kind: "closed" });
        assert.throws(() => robot.setFrequency(10), { kind: "closed" });
      },
      async (peer) => {
        await grant(peer, "srpr");
        peer.send(...sent);
        await new Promise((resolve) => peer.socket.end(resolve));
      },
    ));
}

test("no connection", { timeout }, async () => {
  const robot = new PlayerClient("127.0.0.1", 1);
  await assert.rejects(robot.connect(undefined, undefined, LIMIT), { kind: "closed" });
  await assert.rejects(robot.connect("127.0.0.1", 99999, LIMIT), { kind: "closed" });
  await assert.rejects(robot.request("sr", LIMIT), { kind: "closed" });
  assert.throws(() => robot.setFrequency(10), { kind: "closed" });
});

test("errors", { timeout }, () =>
  play(
    async (robot) => {
      await assert.rejects(robot.read(LIMIT), { kind: "usage" });
      await assert.rejects(robot.request("srlr", LIMIT), { kind: "refused", granted: "srle", message: /device l asked r granted e: no laser$/ });
      await assert.rejects(robot.read(LIMIT), { kind: "protocol" });
      await robot.read(LIMIT);
      assert.ok(robot.has("s"));
      assert.throws(() => robot.setSpeed(1, 1), { kind: "usage" });
    },
    async (peer) => {
      await peer.expect(asked("srlr"));
      peer.send(reply("srle"));
      await peer.expect(hex("78790002716564720000"));
      peer.send(block("Y", Buffer.from("e\nl missing no laser")), reply(""), block("s", hex("31")), S);
      await peer.ended();
    },
  ));

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

test("reconnect in vain", { timeout }, () =>
  play(
    async (robot, server) => {
      await robot.request("sr", LIMIT);
      await server.done(); // nobody listens now
      await assert.rejects(robot.read(LIMIT), { kind: "closed" });
      for (let i = 0; i < 2; i++) await assert.rejects(robot.reconnect(SHORT), { kind: "closed" });
    },
    (peer) => grant(peer, "sr"),
  ));

test("connect starts anew", { timeout }, () =>
  play(
    async (robot) => {
      await robot.request("srpr", LIMIT);
      await robot.read(LIMIT);
      await robot.connect();
      assert.equal(robot.has("s"), false);
      await robot.request("mr", LIMIT);
      await robot.read(LIMIT);
      assert.equal(robot.new, "m");
      assert.deepEqual(plain(robot.misc), DATA.m[2]);
    },
    async (peer) => {
      await grant(peer, "srpr");
      peer.send(S, P, S.slice(0, 9));
      await peer.ended();
    },
    async (peer) => {
      await grant(peer, "mr");
      peer.send(M);
      await peer.ended();
    },
  ));

test("a network that takes nothing", { timeout }, () => {
  const end = gate();
  return play(
    async (robot) => {
      await robot.request("pa", LIMIT);
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
