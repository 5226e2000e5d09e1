import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Element, clock, element, fire, replies, requests, settle, sockets } from "./browser.js";
import { Driver } from "../page/drive.js";
import { People } from "../page/people.js";
import { Presence } from "../page/presence.js";

const control = (id, needs, title = "") => Object.assign(element(id), { title, dataset: { needs } });
const stick = control("stick", "write moves"), motors = control("motors-on", "write config", "Power"), pause = control("pause", "write");
document.found["[data-needs]"] = [stick, motors, pause];

const robots = [{ name: "r0", address: "here:1" }, { name: "r1", address: "here:2" }, { name: "far", address: "far:1" }];
const driver = new Driver(), presence = new Presence();
const people = new People(driver, presence, robots);
people.visitor = { you: "127.0.0.1", may: "read write config" };
presence.start();
const socket = sockets.at(-1);
const client = (name, fields) => ({ address: "10.0.0.7:40000", name, devices: {}, commander: false, commands: 0, frames: 0, paced: false, ...fields });
// robot is the server's message about a robot: all its clients are in the list, unless count says otherwise.
const robot = (address, { stopped = false, clients = [], ...fields } = {}) => ({ stopped, told: { address, control: "newest", trouble: [], used: false, clients, count: clients.length, ...fields } });
const tells = (...list) => socket.receive({ stopped: list.filter((r) => r.stopped).map((r) => r.told.address), robots: list.map((r) => r.told) });
for (const what of ["stop", "release"]) {
  for (const which of ["all", "here%3A1", "here%3A2", "far%3A1"]) replies[`${what}?robot=${which}`] = { ok: true };
}

beforeEach(() => {
  for (const r of robots) r.stopped = false;
  presence.problem = "";
  people.show(robots[0]);
  tells(robot("here:1"), robot("here:2"));
  requests.length = 0;
});

test("who drives, and the list of clients", () => {
  assert.equal(element("who").dataset.role, "nobody");
  assert.equal(element("take").hidden, true);
  const anna = client("anna", { commander: true, commands: 20 });
  tells(robot("here:1", { clients: [anna, client("<i>ben</i>", { address: "10.0.0.8:1", paced: true })], count: 57 }));
  assert.match(element("who").textContent, /anna/);
  assert.equal(element("who").dataset.role, "alone program");
  assert.equal(element("take").hidden, true); // its next command would undo ours
  assert.equal(element("client-count").textContent, "57 connected");
  assert.deepEqual(element("clients").children.map((row) => row.children.map((part) => part.textContent)),
    [["10.0.0.7 (anna)", "commands 20/s"], ["10.0.0.8 (<i>ben</i>)", "connected, slow link"], ["and 55 more", ""]]);
  tells(robot("here:1", { clients: [{ ...anna, commands: 0 }], stopped: true }));
  assert.equal(element("take").hidden, true); // nothing to take
  tells(robot("here:1", { clients: [{ ...anna, commands: 0 }] }));
  assert.equal(element("take").hidden, false);
  tells(robot("here:1", { clients: [anna], control: "first" }));
  assert.equal(element("take").hidden, true);
  assert.equal(driver.vain, true);
  people.visitor.takes = true; // an operator
  people.update();
  assert.equal(element("take").hidden, false);
  assert.equal(driver.vain, false);
  people.visitor.takes = false;
  people.update();
  people.show(robots[2]);
  assert.equal(element("who").dataset.role, "unknown");
  assert.equal(driver.vain, false);
});

test("taking control", () => {
  driver.select(robots[0]);
  fire(element("take"), "click");
  const drive = sockets.at(-1);
  drive.open();
  assert.equal(element("take").dataset.keeps, "true");
  clock.advance(250); // no client drives, and it keeps control
  assert.deepEqual(drive.sent, Array(3).fill({ drive: [0, 0], take: true }));
  driver.setInput("test", [1, 0]);
  driver.setInput("test", [0, 0]);
  clock.advance(100);
  assert.deepEqual(drive.sent.slice(3), [{ drive: [300, 0] }, ...Array(2).fill({ drive: [0, 0], take: true })]);
  fire(element("take"), "click");
  clock.advance(1000);
  assert.equal(drive.sent.length, 6);
  assert.equal(element("take").dataset.keeps, "false");
  driver.take();
  fire(element("stop"), "click");
  assert.equal(driver.keeps, false);
  driver.select(null);
});

test("a stop by somebody else, and its release", async () => {
  assert.equal(element("alert").hidden, true);
  tells(robot("here:1", { stopped: true }));
  assert.equal(element("alert").hidden, false);
  assert.match(element("alert-text").textContent, /^r0 is stopped/);
  assert.equal(element("stop").textContent, "Stopped");
  assert.equal(element("release-all").hidden, true);
  assert.equal(stick.attributes["aria-disabled"], "true");
  assert.match(element("why").textContent, /release it first/);
  assert.ok(driver.blocked && !motors.disabled);
  people.show(robots[1]); // another robot is not
  assert.equal(element("alert").hidden, false);
  assert.equal(element("release").hidden, true);
  assert.equal(element("release-all").hidden, false);
  assert.ok(!driver.blocked);
  people.show(robots[0]);
  fire(element("release"), "click");
  await settle();
  assert.deepEqual(requests, ["POST release?robot=here%3A1"]);
  assert.equal(element("alert").hidden, true);
});

test("controls of a robot that is lost are disabled until it is back, but not Stop", () => {
  const lost = (retry) => {
    robots[0].retry = retry;
    people.follow();
  };
  lost(1);
  assert.ok(driver.blocked && motors.disabled && !pause.disabled);
  assert.match(motors.title, /Nothing comes from the robot/);
  assert.equal(people.halt(robots[0]).why, "");
  lost(0);
  assert.ok(!driver.blocked && !motors.disabled);
  assert.equal(motors.title, "Power");
});

test("a stop that was released in the same second is not shown on", async () => {
  fire(element("stop"), "click");
  assert.equal(element("stop").textContent, "Stopping");
  await settle();
  assert.equal(element("stop").textContent, "Stopped");
  socket.receive({ stopped: [], robots: [] }); // nothing has changed, for the server
  assert.equal(element("stop").textContent, "Stop");
});

test("one robot, and all", async () => {
  fire(element("stop"), "click");
  await settle();
  assert.deepEqual(requests.splice(0), ["POST stop?robot=here%3A1"]);
  fire(element("stop-all"), "click");
  await settle();
  assert.deepEqual(requests.splice(0).sort(), ["POST stop?robot=all", "POST stop?robot=far%3A1"]);
  assert.equal(element("release-all").hidden, false);
  tells(robot("here:1", { stopped: true }), robot("here:2", { stopped: true }));
  assert.match(element("alert-text").textContent, /^r0, r1, far are stopped/);
  fire(element("release-all"), "click");
  await settle();
  assert.deepEqual(requests.splice(0).sort(), ["POST release?robot=all", "POST release?robot=far%3A1"]);
});

test("a stop that fails is told", async () => {
  replies["stop?robot=here%3A1"] = { ok: false, text: async () => "no\n" };
  fire(element("stop"), "click");
  await settle();
  assert.equal(element("alert").hidden, false);
  assert.equal(element("alert-text").textContent, "r0: stop failed: no.");
  Object.defineProperty(replies, "stop?robot=here%3A1", { get() { throw new TypeError("Failed to fetch"); } });
  fire(element("stop"), "click");
  await settle();
  assert.equal(element("alert-text").textContent, "r0: stop failed: the server does not answer.");
});

test("a visitor who may only watch", () => {
  people.visitor = { you: "10.0.0.9", may: "read" };
  people.update();
  for (const c of [stick, motors, pause]) assert.match(c.title, /10\.0\.0\.9.* may only watch/);
  assert.ok(motors.disabled && driver.blocked && element("take").hidden);
  fire(element("stop"), "click");
  assert.deepEqual(requests, []);
  people.visitor = { you: "10.0.0.9", may: "read write" };
  people.update();
  assert.ok(motors.disabled && !pause.disabled && !driver.blocked);
  people.visitor.may = "read write config";
  people.update();
  assert.equal(motors.title, "Power");
});

test("the number of clients is that of the list: connections of one page are one", () => {
  const page = "browser 10.0.0.9 ab12";
  tells(robot("here:1", { clients: [client(page), client(page, { address: "10.0.0.7:2" }), client("anna", { address: "10.0.0.8:1" })] }));
  assert.equal(element("clients").children.length, 2);
  assert.equal(element("client-count").textContent, "2 connected");
});

test("a server that is not heard is gone, and back when it is heard", () => {
  const events = [];
  for (const type of ["lost", "back"]) presence.addEventListener(type, () => events.push(type));
  tells(robot("here:1", { stopped: true, clients: [client("anna")] }));
  clock.advance(3000);
  socket.receive({ stopped: ["here:1"], robots: [] });
  clock.advance(3000);
  assert.deepEqual(events, []);
  assert.equal(element("release").hidden, false);
  clock.advance(1000);
  assert.deepEqual(events, ["lost"]);
  assert.match(element("alert-text").textContent, /^Nothing has been heard from the server since \d\d:\d\d:\d\d\. What you see is old\.$/);
  for (const c of [stick, motors, pause]) assert.match(c.title, /^Nothing has been heard/);
  assert.ok(motors.disabled && driver.blocked && element("release").hidden && element("release-all").hidden);
  assert.deepEqual([element("clients").children.length, element("client-count").textContent, element("stop").textContent], [0, "", "Stop"]);
  assert.ok(robots[0].gone && robots[0].stopped);
  socket.receive({ stopped: [], robots: [] });
  assert.deepEqual(events, ["lost", "back"]);
  assert.ok(element("alert").hidden && !motors.disabled && !driver.blocked && !robots[0].gone);
});

test("the server is lost, and comes back", () => {
  socket.end();
  assert.match(element("alert-text").textContent, /^Nothing has been heard from the server/);
  assert.match(element("who").textContent, /not known/);
  const { length } = sockets;
  clock.advance(1000);
  assert.equal(sockets.length, length + 1);
  sockets.at(-1).receive({ stopped: [], robots: [robot("here:1").told] });
  assert.equal(element("alert").hidden, true);
});
