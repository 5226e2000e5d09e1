import assert from "node:assert/strict";
import { test } from "node:test";
import { element, replies, settle, sockets } from "./browser.js";

test("a page whose computer may not read says so, and opens no socket", async () => {
  replies.robots = { ok: false, text: async () => "the robot's owner does not allow it" };
  await import("../page/main.js");
  await settle();
  assert.equal(element("robot-note").textContent, "the robot's owner does not allow it");
  assert.equal(sockets.length, 0);
});
