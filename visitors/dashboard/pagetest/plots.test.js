import assert from "node:assert/strict";
import test from "node:test";
import { Element, clock, fire } from "./browser.js";
import { near } from "./data.js";
const { Plots } = await import("../page/plots.js");
const { Timeline } = await import("../page/timeline.js");
const { Robot } = await import("../page/robot.js");

const timeline = new Timeline(), robot = Object.assign(new Robot({ name: "r", address: "r:1" }), { state: "live" });
const panel = new Element();
const plots = new Plots(panel, timeline);
const plot = (name) => plots.plots.find((p) => p.name === name);
const drawn = (name) => plot(name).canvas.getContext("2d").calls;

for (let i = 0; i < 100; i++) {
  clock.advance(100);
  robot.data = i === 99 ? { m: { volts: 12.1 } } : { p: { x: 0, y: 0, speed: i / 100, turn: 0 }, m: { volts: 12.6 }, l: new Float32Array(361).fill(2) };
  robot.devices.get("p").meter.count(0.03);
  timeline.keepRobot(robot, false);
}

test("nothing is drawn while the plots are closed", () => {
  plots.robot = robot;
  clock.advance(1000);
  assert.equal(drawn("Speed").length, 0);
});

test("a line a plot, with the newest value", () => {
  plots.show(true);
  clock.advance(250);
  assert.equal(plot("Speed").value.textContent, "980 mm/s"); // of a moment ago
  assert.equal(plot("Battery").value.textContent, "12.1 V");
  assert.equal(plot("Nearest obstacle").value.textContent, "2.00 m");
  assert.equal(plot("Age of data").value.textContent, "80 ms");
  assert.ok(drawn("Speed").filter(([name]) => name === "lineTo").length > 98);
  assert.ok(drawn("Speed").some(([name, text]) => name === "fillText" && text === "980 mm/s")); // the axis
  plots.robot = null;
  clock.advance(250);
  assert.equal(plot("Speed").value.textContent, "–");
  plots.robot = robot;
});

test("a gap interrupts the line, and old values are not shown as new", () => {
  clock.advance(3000);
  assert.equal(plot("Battery").value.textContent, "–");
  timeline.keepRobot(robot, false);
  drawn("Battery").length = 0;
  clock.advance(250);
  const strokes = drawn("Battery").filter(([name]) => name === "moveTo").length;
  assert.ok(strokes >= 2, `${strokes}`);
  assert.equal(plot("Battery").value.textContent, "12.1 V");
});

test("plots are picked, and the choice is remembered", () => {
  assert.ok(plot("Turn").figure.hidden);
  assert.equal(plot("Turn").button.attributes["aria-pressed"], "false");
  fire(plot("Turn").button, "click");
  assert.ok(!plot("Turn").figure.hidden);
  assert.ok(JSON.parse(localStorage.getItem("plots")).includes("Turn"));
  fire(plot("Speed").button, "click");
  const again = new Plots(new Element(), timeline);
  assert.ok(again.plots.find((p) => p.name === "Speed").figure.hidden);
  localStorage.setItem("plots", "{");
  assert.equal(new Plots(new Element(), timeline).plots.filter((p) => !p.figure.hidden).length, 4);
});

test("a drag over a plot shows that moment", () => {
  const { canvas } = plot("Battery");
  fire(canvas, "pointermove", { clientX: 200, buttons: 0 });
  assert.ok(!timeline.past);
  const now = clock.now;
  fire(canvas, "pointerdown", { clientX: 200, buttons: 1 }); // the middle of 400 pixels
  near(timeline.at, now - 30000);
  fire(canvas, "pointermove", { clientX: 390, buttons: 1 });
  near(timeline.at, now - 1500);
  clock.advance(5000); // the plots stand still
  assert.equal(plot("Battery").value.textContent, "–");
  timeline.live();
});
