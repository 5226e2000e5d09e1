import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, element, fire, replies, requests, settle } from "./browser.js";
import { Camera } from "../page/devices.js";
import { Robot } from "../page/robot.js";

const sent = [];
const driver = { send: (message) => sent.push(message) };
const robot = new Robot({ name: "r", address: "a:1", cameras: ["front", "rear"] });
const camera = new Camera(driver); // its elements belong to one

// picture is the reply with a picture of a camera. Nothing follows it: the next request
// waits until the test has a reply.
function picture(number, age, file, view) {
  const headers = new Map([["Picture-Number", String(number)], ["Picture-Age", String(age)]]);
  if (view) headers.set("Picture-View", view);
  return { ok: true, headers, blob: async () => file };
}
const forever = new Promise(() => {});
const waiting = { ok: true, then: (done) => forever.then(done) };

test("pictures are fetched one after the other, and their age is shown", async () => {
  const file = { width: 640, height: 480 };
  replies["camera/front/picture?after=0"] = picture(7, 120, file);
  replies["camera/front/picture?after=7"] = waiting;
  camera.update(robot);
  camera.follow(robot, false);
  await settle();
  assert.deepEqual(requests.filter((r) => r.startsWith("camera/")), ["camera/front/picture?after=0", "camera/front/picture?after=7"]);
  const { calls } = element("image").getContext();
  assert.deepEqual(calls.filter(([name]) => name === "drawImage").at(-1).slice(2), [0, 0, 160, 120]);
  assert.equal(element("image").style.aspectRatio, "640 / 480");
  assert.equal(element("picture-age").textContent, "0.1 s old");
  clock.advance(2400);
  camera.tick();
  assert.equal(element("picture-age").textContent, "2.5 s old");
  assert.equal(element("picture-save").disabled, false);
  assert.deepEqual(element("picture-choice").children.map((o) => o.value), ["front", "rear"]);
});

test("a camera that fails says why, and is asked again", async () => {
  camera.follow(robot, true); // the past has no pictures
  assert.equal(camera.picture.bitmap, null);
  replies["camera/front/picture?after=0"] = { ok: false, text: async () => "no picture of camera front: no signal" };
  camera.follow(robot, false);
  await settle();
  assert.equal(element("picture-note").textContent, "no picture of camera front: no signal");
  replies["camera/front/picture?after=0"] = picture(1, 0, { width: 4, height: 3, broken: true });
  clock.advance(1000);
  await settle();
  assert.equal(element("picture-note").textContent, "Camera front sends what this browser cannot show.");
  replies["camera/front/picture?after=0"] = picture(1, 0, { width: 4, height: 3 });
  replies["camera/front/picture?after=1"] = waiting;
  clock.advance(1000);
  await settle();
  assert.equal(element("picture-note").textContent, "");
  camera.follow(robot, true);
  assert.equal(element("picture-large").disabled, true);
});

test("what the laser detects is marked in a picture whose view is known", async () => {
  const scan = new Float32Array(361).fill(8.191);
  scan[180] = 2;
  Object.assign(robot, { data: { l: scan }, mounts: { ...robot.mounts, Laser: { X: 0, Y: 0, Heading: 0 } } });
  const button = element("picture-laser"), { calls } = element("image").getContext();
  const show = async (number, view) => {
    replies[`camera/front/picture?after=${number - 1}`] = picture(number, 0, { width: 4, height: 3 }, view);
    replies[`camera/front/picture?after=${number}`] = waiting;
    camera.follow(robot, true);
    camera.follow(robot, false);
    calls.length = 0;
    await settle();
  };
  // marks returns the middles of the squares that are filled.
  const marks = () => calls.filter(([name]) => name === "fillRect").map(([, x, y, w, h]) => [x + w / 2, y + h / 2]);
  camera.update(robot);
  await show(1, "90.000 0.0 0.0 0.0 0.000 0.000");
  assert.deepEqual(marks().at(-1), [80, 60]);
  assert.equal(button.hidden, false);
  fire(button, "click");
  assert.equal(button.attributes["aria-pressed"], "false");
  calls.length = 0;
  camera.update(robot);
  assert.deepEqual(marks(), []);
  fire(button, "click");
  assert.deepEqual(marks().at(-1), [80, 60]);
  await show(1, undefined);
  assert.deepEqual(marks(), []);
  assert.equal(button.hidden, true);
});

test("a drag looks around, a wheel zooms, a tap enlarges", async () => {
  const canvas = element("image");
  camera.update(Object.assign(robot, { data: { z: { pan: 0, tilt: 0, zoom: 0 } } }));
  canvas.clientWidth = 488; // pixels, of 48.8 degrees
  const at = (x, y) => ({ clientX: x, clientY: y, pointerId: 1 });
  element("pan").value = element("tilt").value = "0";
  sent.length = 0;
  fire(canvas, "pointerdown", at(100, 100));
  fire(canvas, "pointermove", at(50, 120)); // things at the left go out of sight
  fire(canvas, "pointerup", at(50, 120));
  clock.advance(80);
  assert.deepEqual(sent.splice(0).at(-1), { look: [-5, 2, 0] });
  fire(canvas, "wheel", { deltaY: -3 });
  clock.advance(80);
  assert.deepEqual(sent.splice(0).at(-1).look[2], 40);
  assert.notEqual(element("picture-large").attributes["aria-pressed"], "true");
  camera.picture.bitmap = { width: 4, height: 3, close() {} };
  fire(canvas, "pointerdown", at(10, 10));
  fire(canvas, "pointerup", at(11, 10));
  assert.equal(element("picture-large").attributes["aria-pressed"], "true");
  robot.device("z").access = "e";
  fire(canvas, "wheel", { deltaY: -3 });
  clock.advance(80);
  assert.deepEqual(sent, []);
});
