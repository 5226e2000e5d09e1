// The examples: their steering, and the one for a browser with a real server.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { test } from "node:test";
import { promisify } from "node:util";
import { avoid, followWall, Square } from "../examples/steering.js";

const LIMIT = 30_000; // ms, after which a wait has failed
const folder = new URL("..", import.meta.url);

test("sonar avoidance", () => {
  const far = new Array(16).fill(5000);
  assert.deepEqual(avoid(Uint16Array.from(far)), [300, 0]);
  assert.deepEqual(avoid(Uint16Array.from([5000, 450, 600, ...far.slice(3)])), [200, -100]); // a wall on the left
  assert.deepEqual(avoid(new Uint16Array(16).fill(150)), [-100, 0]);
  assert.deepEqual(avoid(new Uint16Array(16)), [0, 0]);
});

test("laser wall following", () => {
  const scan = (right, ahead, nearest) =>
    Uint16Array.from({ length: 361 }, (_, i) => (i === nearest ? right : i < 120 ? right + 100 : i < 241 ? ahead : 5000));
  assert.deepEqual(followWall(scan(600, 5000, 0)), [250, 0]);
  assert.deepEqual(followWall(scan(700, 5000, 0)), [250, -5]);
  assert.deepEqual(followWall(scan(600, 5000, 20)), [250, 8]);
  assert.deepEqual(followWall(scan(600, 500, 0)), [0, 40]);
  assert.deepEqual(followWall(scan(4000, 5000, 0)), [125, -20]);
});

// The robot carries out each command at once, for 0.1 s.
test("a square", () => {
  const robot = { x: 0, y: 0, heading: 350 }, square = new Square(robot), corners = [];
  for (let i = 0; i < 600 && !square.done; i++) {
    const [speed, turn] = square.steer(robot), sides = square.sides, angle = (robot.heading * Math.PI) / 180;
    robot.x += 0.1 * speed * Math.cos(angle);
    robot.y += 0.1 * speed * Math.sin(angle);
    robot.heading = (robot.heading + 0.1 * turn + 360) % 360;
    if (speed === 0 && turn === 0 && sides > corners.length) corners.push([robot.x, robot.y].map((mm) => Math.round(mm / 100)));
  }
  assert.ok(square.done);
  assert.deepEqual(corners, [[10, -2], [11, 8], [2, 10], [0, 0]]);
});

// PLAYER_PORTS has the ports of a server's robot and dashboard, and a free one. TestFolders of clients/conformance sets it.
const skip = process.env.PLAYER_PORTS || process.env.CI ? false : "no PLAYER_PORTS";

test("a page through the dashboard", { timeout: 3 * LIMIT, skip }, async () => {
  const [robot, dashboard, port] = process.env.PLAYER_PORTS.split(" ");
  const proxy = spawn(process.execPath, ["examples/browser/serve.js", port, `localhost:${dashboard}`], { cwd: folder });
  try {
    await once(proxy.stdout, "data"); // its address
    const files = ["/"]; // of the page, and of their imports
    for (const file of files) {
      const response = await fetch(`http://localhost:${port}${file}`);
      const type = file === "/" ? "text/html" : "text/javascript";
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], file);
      for (const [, imported] of (await response.text()).matchAll(/from "\.(\/[a-z]+\.js)"/g)) {
        if (!files.includes(imported)) files.push(imported);
      }
    }
    assert.ok(files.includes("/errors.js"));
    // A browser sends the origin of the page.
    const upgrade = http.get(`http://localhost:${port}/stream?robot=localhost:${robot}`, {
      headers: {
        Connection: "Upgrade", Upgrade: "websocket", Origin: `http://localhost:${port}`,
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": Buffer.alloc(16).toString("base64"),
      },
    });
    const [response, socket] = await once(upgrade, "upgrade");
    assert.equal(response.statusCode, 101);
    socket.destroy();
    const program = ["--experimental-websocket", "testing/dashboard-program.js", `ws://localhost:${port}`, `localhost:${robot}`];
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder, timeout: LIMIT });
    assert.equal(stdout, "OK\n");
  } finally {
    proxy.kill();
    await once(proxy, "exit");
  }
});
