import assert from "node:assert/strict";
import test from "node:test";
import { clock } from "./browser.js";
import { near } from "./data.js";
const { SPAN, Timeline } = await import("../page/timeline.js");
const { Robot } = await import("../page/robot.js");

// fill keeps a moment every step ms for a time; the robot drives 1 m a second.
function fill(timeline, robot, ms, step = 100) {
  for (let t = 0; t < ms; t += step) {
    clock.advance(step);
    robot.data = { p: { x: clock.now / 1000, y: 0 } };
    robot.devices.get("p").meter.count(0.02);
    timeline.keepRobot(robot, false);
  }
}

const live = () => Object.assign(new Robot({ name: "r", address: "r:1" }), { state: "live" });

test("the last minute is kept, and no more", () => {
  const timeline = new Timeline(), robot = live();
  fill(timeline, robot, 2 * SPAN);
  timeline.trim();
  const moments = timeline.moments(robot);
  assert.equal(moments.length, SPAN / 100 + 2); // also the last one from before the minute
  assert.equal(moments.at(-1).at - moments[1].at, SPAN);
  assert.equal(moments[0].ages.length, 1); // of devices with data
  assert.equal(moments[0].ages[0][0], "p");
  near(moments[0].ages[0][1], 0.07); // on average: 0.02 when it comes, 0.12 when the next comes
  clock.advance(SPAN + 1);
  timeline.trim();
  assert.equal(timeline.moments(robot).length, 1); // a robot without news is as it was
});

test("memory is bounded at any rate, and smaller for robots that are not shown", () => {
  const timeline = new Timeline(), robot = live(), aside = live();
  for (let i = 0; i < 2 * SPAN; i += 10) {
    clock.advance(10);
    timeline.keepRobot(robot, false);
    timeline.keepRobot(aside, true);
  }
  timeline.trim();
  assert.ok(timeline.moments(robot).length <= SPAN / 50 + 2, `${timeline.moments(robot).length}`);
  assert.ok(timeline.moments(aside).length <= SPAN / 300 + 2, `${timeline.moments(aside).length}`);
  timeline.forget(robot);
  assert.equal(timeline.moments(robot).length, 0);
  robot.state = "lost";
  timeline.keepRobot(robot, false);
  assert.equal(timeline.moments(robot).length, 0);
});

test("the past does not change while the present goes on", () => {
  const timeline = new Timeline(), robot = live();
  let changes = 0;
  timeline.addEventListener("change", () => changes++);
  fill(timeline, robot, 10000);
  assert.equal(timeline.of(robot), robot);
  const then = clock.now;
  timeline.go(then - 5000);
  assert.ok(timeline.past);
  const past = timeline.of(robot);
  assert.equal(past.data.p.x, (then - 5000) / 1000);
  assert.equal(past.name, "r"); // all else comes from the robot
  assert.equal(past.trail.at(-1).x, past.data.p.x);
  assert.equal(timeline.of(robot), past);
  fill(timeline, robot, 2 * SPAN);
  timeline.trim();
  assert.equal(timeline.of(robot).data.p.x, (then - 5000) / 1000);
  assert.notEqual(robot.data.p.x, past.data.p.x);
  timeline.go(-Infinity);
  assert.equal(timeline.at, then - SPAN);
  assert.deepEqual(timeline.of(robot).data, {}); // nothing was known then
  timeline.go(Infinity);
  assert.equal(timeline.at, then);
  timeline.live();
  timeline.live();
  assert.equal(timeline.of(robot), robot);
  assert.equal(timeline.latest(), clock.now);
  assert.equal(changes, 4);
});

test("a robot without news is as it was, a lost one is unknown", () => {
  const timeline = new Timeline(), robot = live();
  fill(timeline, robot, 1000);
  clock.advance(5000);
  robot.state = "lost";
  for (let i = 0; i < 3; i++) timeline.keepRobot(robot, false);
  assert.equal(timeline.moments(robot).length, 11);
  clock.advance(1000);
  timeline.go(clock.now - 1001);
  assert.ok(timeline.of(robot).data.p);
  timeline.go(clock.now - 999);
  assert.deepEqual(timeline.of(robot).data, {});
  assert.equal(timeline.of(null), null);
});
