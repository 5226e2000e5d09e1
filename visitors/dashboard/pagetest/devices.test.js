import assert from "node:assert/strict";
import { test } from "node:test";
import { Element, clock, element, fire } from "./browser.js";
import { Chips } from "../page/chips.js";
import { Body, Camera, Gripper } from "../page/devices.js";
import { Robot } from "../page/robot.js";

const sent = [];
const driver = { send: (message) => sent.push(message) };
const robotWith = (data) => Object.assign(new Robot({ name: "r", address: "a:1" }), { data });

test("sliders command the camera, not too often; left is positive", () => {
  new Camera(driver);
  element("pan").value = "-30";
  fire(element("pan"), "input");
  element("tilt").value = "10";
  fire(element("tilt"), "input");
  assert.deepEqual(sent, []);
  clock.advance(80);
  assert.deepEqual(sent.splice(0), [{ look: [30, 10, 0] }]);
  assert.equal(element("pan").attributes["aria-valuetext"], "30° left");
  assert.equal(element("tilt").attributes["aria-valuetext"], "10° up");
  fire(element("ahead"), "click");
  clock.advance(80);
  assert.deepEqual(sent.splice(0), [{ look: [-0, 0, 0] }]);
});

test("sliders follow the camera once they are left alone", () => {
  const camera = new Camera(driver), robot = robotWith({ z: { pan: 20, tilt: -5, zoom: 100 } });
  camera.update(robot);
  assert.deepEqual(["pan", "tilt", "zoom"].map((id) => element(id).value), ["-20", "-5", "100"]);
  element("pan").value = "50";
  fire(element("pan"), "input");
  camera.update(robot);
  assert.equal(element("pan").value, "50");
  clock.advance(4001);
  camera.update(robot);
  assert.equal(element("pan").value, "-20");
  fire(element("pan"), "input");
  camera.update(robotWith({ z: { pan: 1, tilt: 0, zoom: 0 } })); // another robot
  assert.equal(element("pan").value, "-1");
});

test("blobs are drawn where the image has them, with labels in sight", () => {
  const camera = new Camera(driver);
  const blob = { area: 100, x: 80, y: 60, left: 75, right: 85, top: 55, bottom: 65 };
  camera.update(robotWith({ v: [{ ...blob, channel: 0 }, { ...blob, channel: 12, left: 150, right: 159, top: 2, bottom: 9 }] }));
  const { calls } = element("image").getContext();
  assert.deepEqual(calls.filter(([name]) => name === "fillRect"), [["fillRect", 75, 55, 11, 11], ["fillRect", 150, 2, 10, 8]]);
  const [first, second] = calls.filter(([name]) => name === "fillText");
  assert.deepEqual(first, ["fillText", "red 100 px", 75, 52.5]);
  assert.equal(second[1], "channel 12 100 px");
  assert.ok(second[2] + 4 * second[1].length <= 158 && second[3] > 9, `${second}`);
  assert.equal(element("blob-count").textContent, "2 blobs");
});

test("gripper", () => {
  sent.length = 0; // of the sliders
  const gripper = new Gripper(driver), button = new Element();
  button.dataset.grip = "4";
  fire(element("grip-buttons"), "click", { target: button });
  fire(element("grip-buttons"), "click", { target: new Element() }); // next to the buttons
  assert.deepEqual(sent.splice(0), [{ grip: [4, 0] }]);
  gripper.update({ data: { g: { state: 1, beams: 0 } } });
  assert.match(element("grip-state").textContent, /open/);
});

test("a list chooses one of several grippers", () => {
  const gripper = new Gripper(driver), button = new Element(), others = [{ name: "gripper:1", interface: "gripper" }];
  const data = { g: { state: 1, beams: 0 }, "gripper:1": { state: 2, beams: 0 } };
  gripper.update({ data, others });
  assert.equal(gripper.choice.select.hidden, false);
  assert.match(element("grip-state").textContent, /open/);
  gripper.choice.select.value = "gripper:1";
  fire(gripper.choice.select, "change");
  assert.match(element("grip-state").textContent, /closed/);
  button.dataset.grip = "2";
  fire(element("grip-buttons"), "click", { target: button });
  assert.deepEqual(sent.at(-1), { device: "gripper:1", grip: [2, 0] });
  gripper.update({ data, others: [] }); // it has gone with a reload
  assert.equal(gripper.choice.select.hidden, true);
  assert.equal(gripper.choice.key, "g");
});

test("body", () => {
  const body = new Body();
  body.update({ data: { m: { front: 1, rear: 0, volts: 12.34 } } });
  assert.equal(element("volts").textContent, "12.3 V");
  assert.equal(element("battery").value, 12.34);
  assert.ok(element("bumper-state").classes.has("bad"));
  body.update({ data: {} });
  assert.equal(element("volts").textContent, "–");
  assert.ok(!element("bumper-state").classes.has("bad"));
});

test("a chip subscribes and unsubscribes", () => {
  const list = new Element(), chips = new Chips(list, { old: 0.5, dead: 2 });
  const chip = list.children.find((button) => button.dataset.device === "l");
  fire(chip, "click"); // there is no robot yet
  const robot = robotWith({}), d = robot.devices.get("l");
  chips.show(robot);
  assert.equal(chip.querySelector(".rate").textContent, "off");
  assert.equal(chip.attributes["aria-pressed"], "false");
  robot.state = "live";
  chips.update();
  assert.equal(chip.querySelector(".rate").textContent, "starting");
  assert.equal(chip.attributes["aria-pressed"], "true");
  fire(chip, "click");
  assert.equal(d.wanted, false);
  assert.equal(chip.attributes["aria-pressed"], "false");
  fire(chip, "click");
  assert.equal(d.wanted, true);
  d.access = "e";
  chips.update();
  assert.equal(chip.dataset.level, "absent");
  assert.equal(chip.attributes["aria-pressed"], "false");
  fire(chip, "click"); // asks again
  assert.equal(d.wanted, true);
  assert.equal(d.access, "");
});
