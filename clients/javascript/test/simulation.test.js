import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Simulation } from "../lib/node.js";

// serving calls fn with a Simulation at a server that answers each request with a status and a text.
async function serving(status, text, fn) {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${decodeURIComponent(request.url)}`);
    if (status === 0) return; // never
    response.writeHead(status);
    response.end(text);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await fn(new Simulation("127.0.0.1", server.address().port), asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("an order and the state afterwards", async () => {
  const state = '{"time":1.5,"speed":0,"paused":true,"finished":false,"seed":7,"movers":[{"name":"a &b","robot":true,"x":1,"y":2.5,"heading":-90}]}';
  await serving(200, state, async (world, asked) => {
    const got = await world.order({ seed: 7, move: { "a &b": { x: 1, y: 2.5, heading: -90 } }, speed: 0, pause: false, step: 5 });
    assert.equal(got.time, 1.5);
    assert.deepEqual(got.movers, [{ name: "a &b", robot: true, x: 1, y: 2.5, heading: -90, sees: [] }]);
    await world.state();
    assert.deepEqual(asked, [
      'POST /simulation?order={"seed":7,"speed":0,"pause":false,"step":5,"move":[{"name":"a &b","x":1,"y":2.5,"heading":-90}]}',
      "GET /simulation",
    ]);
  });
});

test("what is refused, and servers that are none", async () => {
  for (const [status, text, kind, want] of [
    [409, "there is no room for r0\n", "refused", /^there is no room for r0$/],
    [409, "no\x1b[2J\u202e", "refused", /^no\?\[2J\?$/],
    [400, "write step 0 to 1000", "refused", /write step/],
    [403, "your computer may read", "usage", /your computer may read/],
    [404, "404 page not found", "usage", /start the server with -stage and -http/],
    [503, "the server has stopped", "protocol", /503 the server has stopped/],
    [200, "<html>", "protocol", /is no dashboard of Player/],
    [200, "null", "protocol", /is no dashboard of Player/],
  ]) {
    await serving(status, text, (world) => assert.rejects(world.order({ reset: true }), { kind, message: want }));
  }
  await serving(0, "", (world) => assert.rejects(world.state(50), { kind: "timeout" }));
  await assert.rejects(new Simulation("127.0.0.1", 1).state(), { kind: "closed", message: /^127.0.0.1:1: / });
});
