import assert from "node:assert/strict";
import { test } from "node:test";
import { replies, settle, sockets } from "./browser.js";

const { Presence } = await import("../page/presence.js");

test("a page whose sockets are refused says why, until it hears the server", async () => {
  const presence = new Presence();
  presence.start();
  replies.robots = { status: 405, text: async () => "Method Not Allowed" }; // it is not refused: the server ends
  sockets.at(-1).end();
  await settle();
  assert.deepEqual([presence.lost, presence.problem], [true, ""]);
  replies.robots = { status: 403, text: async () => "pages of x may not use this server\n" };
  sockets.at(-1).end();
  await settle();
  assert.equal(presence.problem, "The server refuses this page: pages of x may not use this server");
  sockets.at(-1).receive({ stopped: [], robots: [] });
  assert.deepEqual([presence.lost, presence.problem], [false, ""]);
  sockets.at(-1).end(); // it was heard: the alert says since when it is not
  await settle();
  assert.equal(presence.problem, "");
});
