import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Element, clock, element, fire, replies, requests, settle, sockets } from "./browser.js";
import { block, bytes, frame } from "./data.js";

const mounts = (x) => ({ Laser: { X: x, Y: 0, Heading: 0 }, Camera: null, Sonars: [], SonarFOV: 0.3 });
const mover = (name, x) => ({ name, parts: [], mounts: mounts(x) });
const scene = { name: "room", fixtures: [], movers: [mover("r0", 0), mover("r1", 0.1), { name: "puck", parts: [] }] };
const poses = (flags) => bytes(`00000001 4000000000000000 3e800000 0${flags}` + "00".repeat(36)).buffer; // speed 0.25

const panel = new Element();
panel.dataset.devices = "vz";
document.found["[data-devices]"] = [panel];
element("max-speed").value = "300"; // as in index.html
element("max-turn").value = "60";
localStorage.setItem("robots", `["far:6665"]`);

let player, world;
const stream = (address) => sockets.findLast(({ url }) => url.pathname === "/stream" && url.searchParams.get("robot") === address);

// The server lists robots by port, the world in the order of its file.
before(async () => {
  element("offer").textContent = JSON.stringify({
    world: true, you: "127.0.0.1", may: "read write config",
    robots: [
      { name: "r1", address: "localhost:6665", mover: 1 },
      { name: "hardware", address: "localhost:6666", mover: -1 },
      { name: "r0", address: "localhost:6667", mover: 0 },
    ],
  });
  const { textContent } = element("offer");
  replies.robots = { ok: true, text: async () => textContent };
  await import("../page/main.js");
  await settle();
  ({ player } = globalThis);
  world = sockets.find(({ url }) => url.pathname === "/world");
  world.open();
  world.receive(scene);
});

test("robots whose ports are out of file order", () => {
  const [first, hardware, last] = player.robots;
  assert.equal(player.shown, first);
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
  player.show(first);
});

test("robots of the server are watched from the start, added ones when they are shown", () => {
  assert.deepEqual(player.robots.map(({ name, state }) => [name, state]),
    [["r1", "connecting"], ["hardware", "connecting"], ["r0", "connecting"], ["far:6665", "off"]]);
  const far = player.robots[3];
  player.show(far);
  assert.equal(far.state, "connecting");
  player.show(player.robots[0]);
  assert.equal(far.state, "off");
});

test("data of the robot that is shown", () => {
  const socket = stream("localhost:6665");
  socket.open();
  socket.receive({ access: { p: "r", v: "e", z: "e" }, refused: { v: { why: "hardware", text: "no ACTS" } } });
  socket.receive(frame(1, 4, block("p", 0, "00000000 000003e8 00000000 0000 012c 0000 0000 00")));
  assert.equal(element("odometry").textContent, "1.00 m, 0.00 m, 0°");
  assert.equal(element("velocity").textContent, "300 mm/s, 0 °/s");
  assert.equal(element("nearest").textContent, "–");
  assert.ok(panel.classes.has("idle") && panel.classes.has("absent"));
  assert.equal(panel.querySelector(".head").dataset.refused, "not working");
  clock.advance(250);
  assert.equal(element("robot-state").textContent, "live");
  assert.ok(!element("robot").classes.has("old"));
  assert.match(element("robot-flow").textContent, /frames\/s .* 4 rounds dropped$/);
  socket.end("connection refused");
  clock.advance(250);
  assert.equal(element("robot-note").textContent, "localhost:6665: connection refused");
  assert.ok(element("robot").classes.has("old"));
  player.robots[0].unwatch();
});

test("a robot is added, pinned and removed", () => {
  element("host").value = " near:6665 ";
  assert.ok(fire(element("add"), "submit").defaultPrevented);
  const near = player.robots.at(-1);
  assert.equal(player.shown, near);
  assert.equal(near.address, "near:6665");
  assert.equal(localStorage.getItem("robots"), `["far:6665","near:6665"]`);
  fire(element("add"), "submit"); // again: the same robot
  assert.equal(player.robots.length, 5);
  const card = element("robots").children.at(-1);
  player.show(player.robots[0]);
  assert.equal(near.state, "connecting"); // pinned
  fire(card.querySelector(".pin"), "click");
  assert.equal(near.state, "off");
  fire(card.querySelector(".card"), "click");
  assert.equal(player.shown, near);
  fire(card.children[0], "click"); // its × button
  assert.equal(player.shown, player.robots[0]);
  assert.equal(localStorage.getItem("robots"), `["far:6665"]`);
});

test("driving", () => {
  player.driver.setInput("test", [1, 0]);
  const socket = sockets.at(-1);
  assert.equal(socket.url.pathname, "/drive");
  socket.open();
  assert.deepEqual(socket.sent, [{ drive: [300, 0] }]);
  assert.equal(element("drive-state").textContent, "300 mm/s · 0 °/s");
  requests.length = 0;
  fire(element("stop"), "click");
  assert.deepEqual(socket.sent.at(-1), { drive: [0, 0] });
  assert.deepEqual(requests, ["POST stop?robot=localhost%3A6665"]);
  player.driver.setInput("test", [0, 0]);
  for (const [id, value] of [["max-speed", "500"], ["max-turn", "30"]]) {
    element(id).value = value;
    fire(element(id), "input");
  }
  assert.deepEqual(player.driver.limits, { speed: 500, turn: 30 });
  assert.equal(element("max-turn-out").textContent, "30 °/s");
  fire(element("motors-on"), "click");
  assert.equal(element("motors-on").attributes["aria-pressed"], "true");
  fire(element("motors-off"), "click");
  assert.equal(element("motors-on").attributes["aria-pressed"], "false");
  player.shown.trail = [{ x: 0, y: 0 }];
  fire(element("reset"), "click");
  assert.deepEqual(player.shown.trail, []);
  assert.deepEqual(socket.sent.slice(-3), [{ motors: true }, { motors: false }, { reset: true }]);
  socket.receive({ held: "p", error: "the motors cannot be switched" });
  assert.deepEqual(["motors-on", "motors-off"].map((id) => element(id).attributes["aria-pressed"]), ["false", "false"]);
  fire(element("motors-off"), "click");
  // Motors that were switched on one robot say nothing about another.
  player.show(player.robots[1]);
  assert.equal(element("motors-off").attributes["aria-pressed"], "false");
  player.show(player.robots[0]);
  assert.equal(element("motors-off").attributes["aria-pressed"], "true");
});

test("the simulation", () => {
  world.receive(poses(1));
  assert.equal(element("sim-time").textContent, "2.0 s");
  assert.equal(element("pause").textContent, "Run");
  assert.equal(element("speed").value, "0.25");
  world.receive(poses(1)); // the speed is added to the list once
  assert.equal(element("speed").options.length, 1);
  world.sent = [];
  fire(element("pause"), "click");
  fire(element("step"), "click");
  element("speed").value = "2";
  fire(element("speed"), "change");
  assert.deepEqual(world.sent, [{ pause: false }, { pause: true }, { step: 10 }, { speed: 2 }]);
  world.receive(poses(2));
  assert.equal(element("sim-time").textContent, "2.0 s · finished");
});

test("views and the theme", () => {
  fire(element("tab-robot"), "click");
  assert.equal(element("main").dataset.view, "robot");
  assert.equal(element("tab-world").attributes["aria-pressed"], "false");
  fire(element("scope-up"), "click");
  assert.equal(player.scope.headingUp, false);
  fire(element("scope-fit"), "click");
  fire(element("world-fit"), "click");
  element("rate").value = "50";
  fire(element("rate"), "change");
  assert.equal(player.shown.rate, 50);
  let toggled = 0;
  addEventListener("toggletheme", () => toggled++);
  fire(element("theme"), "click");
  assert.equal(toggled, 1);
  fire(globalThis, "themechange");
  clock.advance(20); // draws everything again
});

test("the past is shown until somebody drives", () => {
  const [robot] = player.robots;
  robot.watch();
  const socket = stream("localhost:6665");
  const drives = (x) => socket.receive(frame(1, 0, block("p", 0, `00000000 0000${x} 00000000 0000 0000 0000 0000 00`)));
  const showsX = () => element("odometry").textContent.slice(0, 4);
  socket.open();
  socket.receive({ access: { p: "r" } });
  clock.advance(100);
  drives("03e8");
  world.receive(poses(0));
  clock.advance(1000);
  drives("07d0");
  assert.equal(showsX(), "2.00");
  element("timeline").value = "-0.5";
  fire(element("timeline"), "input");
  assert.equal(showsX(), "1.00");
  assert.ok(!element("past").hidden);
  assert.ok(document.documentElement.classes.has("past"));
  assert.match(element("past-text").textContent, /^This is the past: 0\.5 s before /);
  assert.equal(player.world.poses.length, 3);
  drives("0bb8");
  clock.advance(250);
  assert.equal(showsX(), "1.00"); // it does not go on
  assert.ok(player.world.frozen);
  player.driver.setInput("test", [1, 0]);
  assert.equal(showsX(), "3.00");
  assert.ok(element("past").hidden && !player.world.frozen);
  player.driver.setInput("test", [0, 0]);
  fire(element("live"), "click"); // pauses
  assert.ok(player.timeline.past);
  fire(element("live"), "click");
  assert.ok(!player.timeline.past);
  fire(element("live"), "click");
  fire(element("to-live"), "click");
  assert.ok(!player.timeline.past);
});

test("drawers", () => {
  element("plots").hidden = element("log").hidden = true;
  replies["log?after=0"] = { ok: true, json: async () => ({ last: 0, lines: [] }) };
  for (const id of ["plots", "log"]) {
    fire(element(`${id}-open`), "click");
    assert.ok(!element(id).hidden && player.dock[id].open);
    assert.equal(element(`${id}-open`).attributes["aria-expanded"], "true");
    fire(element(`${id}-open`), "click");
    assert.ok(element(id).hidden && !player.dock[id].open);
  }
});

test("a server that is gone leaves nothing that looks alive, and comes back", async () => {
  const presence = sockets.findLast(({ url }) => url.pathname === "/presence"), gone = () => document.documentElement.classes.has("gone");
  presence.receive({ stopped: [], robots: [] });
  player.driver.setInput("test", [1, 0]);
  const drive = sockets.findLast(({ url }) => url.pathname === "/drive");
  clock.advance(4000);
  assert.ok(gone() && player.world.locked && !player.driver.moving && drive.readyState === 3);
  assert.match(element("drive-state").textContent, /the server does not answer/);
  assert.deepEqual(["motors-on", "motors-off", "live"].map((id) => element(id).attributes["aria-pressed"]), ["false", "false", "false"]);
  assert.equal(element("timeline-out").textContent, "–");
  assert.equal(element("robot-state").textContent, "no connection");
  assert.equal(element("robot-note").textContent, "");
  player.driver.setInput("test", [0, 0]);
  let reloads = 0;
  location.reload = () => reloads++;
  presence.receive({ stopped: [], robots: [] });
  await settle();
  assert.ok(!gone() && !player.world.locked && element("live").attributes["aria-pressed"] === "true");
  assert.equal(reloads, 0);
  clock.advance(4000);
  replies.robots = { ok: true, text: async () => "other robots" };
  presence.receive({ stopped: [], robots: [] });
  await settle();
  assert.equal(reloads, 1);
});
