import assert from "node:assert/strict";
import { test } from "node:test";
import { replies, settle, sockets } from "./browser.js";

const mounts = (x) => ({ Laser: { X: x, Y: 0, Heading: 0 }, Camera: null, Sonars: [], SonarFOV: 0.3 });
const mover = (name, x) => ({ name, parts: [], mounts: mounts(x) });
const scene = { name: "test", fixtures: [], movers: [mover("r0", 0), mover("r1", 0.1), { name: "puck", parts: [] }] };

// The server lists robots by port, the world in the order of its file.
test("robots whose ports are out of file order", async () => {
  replies.robots = { ok: true, json: async () => ({
    world: true,
    robots: [
      { name: "r1", address: "localhost:6665", mover: 1 },
      { name: "hardware", address: "localhost:6666", mover: -1 },
      { name: "r0", address: "localhost:6667", mover: 0 },
    ],
  }) };
  await import("../page/main.js");
  await settle();
  const { player } = globalThis;
  sockets.find(({ url }) => url.pathname === "/world").receive(scene);
  const [first, hardware, last] = player.robots;
  assert.equal(first.mover, 1);
  assert.equal(player.world.selected, 1);
  assert.equal(player.world.robots[0], last);
  assert.equal(player.world.robots[1], first);
  assert.equal(player.world.robots[2], undefined);
  assert.equal(first.mounts.Laser.X, 0.1);
  assert.equal(last.mounts.Laser.X, 0);
  player.show(last);
  assert.equal(player.world.selected, 0);
  player.show(hardware);
  assert.equal(player.world.selected, -1);
});
