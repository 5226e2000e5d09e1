import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Element, clock, fire, sockets } from "./browser.js";
import { Driver, bindFocus, bindGamepad, bindKeys, bindStick } from "../page/drive.js";

const robot = { address: "robot:6665" };
let socket;

// The dashboard has one driver for its whole life; tests take turns with it.
const driver = new Driver();
bindFocus(driver);
bindKeys(driver);
const disc = new Element("stick"), knob = new Element("knob"), hint = new Element("hint");
Object.assign(disc, { clientWidth: 180, clientHeight: 180, left: 100, top: 200, type: "" });
bindStick(driver, disc, knob);
bindGamepad(driver, hint);

// connect connects the driver, like the first command.
function connect() {
  driver.setInput("test", [1, 0]);
  socket = sockets.at(-1);
  socket.open();
  driver.setInput("test", [0, 0]);
  socket.sent = [];
}

const drives = () => socket.sent.filter((m) => m.drive).map((m) => m.drive);
const key = (type, code, fields = {}, target = new Element()) => fire(globalThis, type, { code, key: code, target, ...fields });

beforeEach(() => {
  driver.select(null);
  driver.note = "";
  driver.select(robot);
  connect();
});

test("control is not kept when the connection ends", () => {
  driver.take();
  assert.deepEqual(drives(), [[0, 0]]);
  robot.motors = true;
  const { length } = sockets;
  socket.end("the robot is lost");
  assert.deepEqual([driver.keeps, driver.note, robot.motors], [false, "stopped: the robot is lost", undefined]);
  clock.advance(1000);
  assert.equal(sockets.length, length); // it does not take control again by itself
});

test("a command is repeated while it is held, and a stop is sent once", () => {
  driver.setInput("test", [1, 0]);
  assert.deepEqual(drives(), [[300, 0]]);
  clock.advance(350);
  assert.deepEqual(drives(), Array(4).fill([300, 0]));
  driver.setInput("test", [0, 0]);
  clock.advance(1000);
  assert.deepEqual(drives().slice(4), [[0, 0]]);
  assert.equal(driver.moving, false);
});

test("changes are sent soon, the newest only; a stop at once", () => {
  driver.setInput("test", [0.5, 0]);
  for (const v of [0.6, 0.7, 0.8]) driver.setInput("test", [v, 0]);
  assert.deepEqual(drives(), [[150, 0]]);
  clock.advance(40);
  assert.deepEqual(drives(), [[150, 0], [240, 0]]);
  driver.setInput("test", [0.9, 0]);
  driver.setInput("test", [0, 0]);
  assert.deepEqual(drives().slice(2), [[0, 0]]);
});

test("commands that wait for the connection are merged, others are kept", () => {
  driver.close();
  driver.send({ motors: true });
  driver.send({ drive: [100, 0] });
  driver.send({ drive: [200, 0] });
  socket = sockets.at(-1);
  assert.deepEqual(socket.sent, []);
  socket.open();
  assert.deepEqual(socket.sent, [{ motors: true }, { drive: [200, 0] }]);
});

test("nothing is sent without a robot", () => {
  driver.select(null);
  const { length } = sockets;
  driver.setInput("test", [1, 0]);
  driver.send({ motors: true });
  driver.setInput("test", [0, 0]);
  assert.equal(sockets.length, length);
});

test("another robot is selected while one drives", () => {
  driver.setInput("test", [1, 0]);
  driver.select({ address: "other:6665" });
  assert.deepEqual(drives().at(-1), [0, 0]);
  assert.equal(socket.readyState, 3);
  clock.advance(1000);
  assert.equal(sockets.at(-1), socket); // the key is still held
  driver.setInput("test", [0, 0]);
  driver.setInput("test", [1, 0]);
  assert.equal(sockets.at(-1).url.searchParams.get("robot"), "other:6665");
  driver.setInput("test", [0, 0]);
});

test("reports of the server", () => {
  socket.receive({ held: "pz" });
  assert.equal(driver.note, "");
  socket.receive({ held: "z", error: "the laser is on fire" });
  assert.equal(driver.note, "the laser is on fire");
  driver.setInput("test", [1, 0]); // a new command clears the note
  assert.equal(driver.note, "");
  driver.setInput("test", [0, 0]);
});

test("the connection ends while the robot moves: every input must be released first", () => {
  driver.setInput("test", [1, 0]);
  const { length } = sockets;
  socket.end("connection refused");
  assert.equal(driver.moving, false);
  assert.equal(driver.note, "stopped: connection refused");
  driver.setInput("test", [0.5, 0]);
  clock.advance(1000);
  assert.equal(sockets.length, length);
  driver.setInput("test", [0, 0]);
  driver.setInput("test", [0.5, 0]);
  assert.equal(sockets.length, length + 1);
  driver.setInput("test", [0, 0]);
});

test("the end of a previous connection changes nothing", () => {
  const previous = socket;
  driver.close();
  connect();
  driver.setInput("test", [1, 0]);
  previous.end("late");
  previous.receive({ held: "p", error: "late" });
  assert.equal(driver.moving, true);
  assert.equal(driver.note, "");
  driver.setInput("test", [0, 0]);
});

test("keys", () => {
  assert.equal(key("keydown", "ArrowUp").defaultPrevented, true);
  key("keydown", "ArrowUp", { repeat: true });
  assert.deepEqual(drives(), [[300, 0]]);
  clock.advance(40);
  key("keydown", "KeyA");
  assert.deepEqual(drives(), [[300, 0], [300, 60]]);
  let stops = 0;
  driver.addEventListener("stop", () => stops++);
  key("keydown", "Escape"); // stops until both are released
  key("keydown", "Escape", { repeat: true });
  key("keydown", "Escape", {}, Object.assign(new Element(), { tag: "input" })); // it ends what is typed
  assert.equal(stops, 1);
  key("keyup", "KeyA");
  clock.advance(500);
  assert.deepEqual(drives().slice(2), [[0, 0]]);
  key("keyup", "ArrowUp");
  key("keydown", "ArrowUp");
  assert.deepEqual(drives().at(-1), [300, 0]);
  key("keydown", "Meta");
  key("keyup", "Meta"); // a release of other keys may have gone unreported
  assert.deepEqual(drives().at(-1), [0, 0]);
});

test("a driver that is blocked stops, and commands nothing", () => {
  driver.setInput("test", [1, 0]);
  driver.block(true);
  clock.advance(500);
  driver.setInput("test", [0, 0]);
  driver.setInput("test", [1, 0]);
  assert.deepEqual(drives(), [[300, 0], [0, 0]]);
  driver.setInput("test", [0, 0]);
  driver.block(false);
  driver.setInput("test", [1, 0]);
  assert.deepEqual(drives().at(-1), [300, 0]);
  driver.setInput("test", [0, 0]);
});

test("keys that do not drive", () => {
  const text = Object.assign(new Element(), { tag: "input" }), slider = Object.assign(new Element(), { type: "range" }), list = Object.assign(new Element(), { tag: "select" });
  key("keydown", "KeyW", {}, text);
  key("keydown", "KeyW", {}, list);
  key("keydown", "ArrowUp", {}, slider);
  for (const modifier of ["ctrlKey", "metaKey", "altKey", "shiftKey"]) key("keydown", "KeyW", { [modifier]: true });
  assert.equal(key("keydown", "KeyQ").defaultPrevented, false);
  assert.deepEqual(drives(), []);
  key("keydown", "KeyW", {}, slider); // sliders do not need letters
  assert.deepEqual(drives(), [[300, 0]]);
  key("keyup", "KeyW");
});

test("the dashboard loses the focus or is hidden", () => {
  key("keydown", "ArrowLeft");
  fire(globalThis, "blur");
  assert.deepEqual(drives(), [[0, 60], [0, 0]]);
  assert.equal(driver.note, "stopped: the dashboard lost the focus");
  key("keydown", "ArrowLeft");
  document.hidden = true;
  fire(document, "visibilitychange");
  document.hidden = false;
  assert.deepEqual(drives().at(-1), [0, 0]);
  assert.equal(driver.note, "stopped: the dashboard was hidden");
  assert.equal(socket.readyState, 3);
  fire(document, "visibilitychange");
  key("keyup", "ArrowLeft");
  connect();
  key("keydown", "ArrowLeft");
  fire(globalThis, "pagehide");
  assert.deepEqual(drives(), [[0, 60], [0, 0]]);
  key("keyup", "ArrowLeft");
});

test("the stick", () => {
  const pointer = (type, x, y, fields = {}) => fire(disc, type, { pointerId: 1, button: 0, clientX: x, clientY: y, ...fields });
  pointer("pointermove", 190, 210); // not held
  pointer("pointerdown", 190, 290, { button: 2 });
  assert.deepEqual(drives(), []);
  pointer("pointerdown", 190, 290);
  assert.ok(disc.classes.has("held"));
  disc.left += 300; // a notice moves it, and not the finger
  pointer("pointermove", 190, 0);
  disc.left -= 300;
  assert.deepEqual(drives(), [[300, 0]]);
  assert.equal(knob.style.transform, "translate(0%, -100%)");
  pointer("pointerdown", 0, 290, { pointerId: 2 }); // a second finger
  pointer("pointerup", 0, 290, { pointerId: 2 });
  assert.ok(driver.moving);
  pointer("pointerup", 190, 0);
  assert.deepEqual(drives().at(-1), [0, 0]);
  assert.equal(knob.style.transform, "translate(0%, 0%)");
  assert.ok(!disc.classes.has("held"));
});

test("a gamepad", () => {
  const pad = { connected: true, axes: [-1, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false })) };
  const pads = [null, pad];
  navigator.getGamepads = () => pads;
  fire(globalThis, "gamepadconnected");
  assert.equal(hint.hidden, false);
  clock.advance(50);
  assert.deepEqual(drives(), []);
  pad.buttons[5].pressed = true;
  clock.advance(20);
  assert.deepEqual(drives(), [[0, 60]]);
  pads.pop(); // unplugged
  clock.advance(20);
  assert.deepEqual(drives().at(-1), [0, 0]);
  assert.equal(hint.hidden, true);
  const { length } = clock.timers;
  clock.advance(100);
  assert.ok(clock.timers.length <= length); // nothing polls any more
});

test("without encryption the page says that a gamepad may need it, and lives with a browser that has none", (t) => {
  const hint = new Element("hint"), { getGamepads } = navigator;
  t.after(() => Object.assign(navigator, { getGamepads }));
  globalThis.isSecureContext = false;
  t.after(() => (globalThis.isSecureContext = true));
  bindGamepad(driver, hint);
  assert.deepEqual([hint.hidden, hint.textContent], [false, "; gamepad: most browsers need https:// or localhost for it"]);
  for (const refuses of [undefined, () => { throw new DOMException("policy", "SecurityError"); }]) {
    navigator.getGamepads = refuses;
    fire(globalThis, "gamepadconnected");
    assert.equal(driver.inputs.size, 0);
  }
  navigator.getGamepads = () => [{ connected: true, axes: [0, -1], buttons: [] }];
  fire(globalThis, "gamepadconnected");
  assert.deepEqual([hint.hidden, hint.textContent], [false, "; gamepad: hold a shoulder button"]);
  navigator.getGamepads = () => [];
  clock.advance(20);
});

const goals = () => socket.sent.filter((m) => m.goal).map((m) => m.goal);

// go has the driver give a goal half a metre to the left of the robot, and returns it.
function go() {
  robot.data = { p: { x: 1, y: 2, heading: Math.PI / 2 } };
  driver.aim("goto:0");
  assert.equal(driver.press({ x: 0, y: 0.5 }), true);
  return socket.sent.at(-1);
}

test("a place that is pressed is a goal, which is repeated until the device has ended it", () => {
  robot.data = {};
  assert.equal(driver.press({ x: 1, y: 1 }), false); // nothing was asked for
  const { device, goal } = go();
  assert.deepEqual([device, { ...goal, tag: 0 }], ["goto:0", { x: 500, y: 2000, tag: 0, speed: 300, turn: 60 }]);
  assert.equal(driver.aiming, "");
  driver.limits.speed = 200;
  clock.advance(350);
  assert.deepEqual(goals(), [goal, ...Array(3).fill({ ...goal, speed: 200 })]);
  driver.limits.speed = 300;
  const says = (state, tag) => {
    robot.data["goto:0"] = { state, tag };
    driver.follow();
    return Boolean(driver.order);
  };
  assert.deepEqual([says(2, goal.tag + 1), says(1, goal.tag), says(3, goal.tag), says(2, goal.tag)], [true, true, true, false]);
  const { length } = goals();
  clock.advance(1000);
  assert.equal(goals().length, length);
  const second = go();
  says(1, second.goal.tag);
  assert.equal(says(1, 0), false); // another client's goal replaces it
});

test("a goal is given up by all that ends driving", () => {
  const ends = {
    "the focus goes": () => fire(globalThis, "blur"), "Escape": () => key("keydown", "Escape"),
    "it is blocked": () => (driver.block(true), driver.block(false)), "another client has control": () => driver.setVain(true),
  };
  for (const [name, end] of Object.entries(ends)) {
    go();
    end();
    assert.deepEqual(goals().at(-1), {}, name);
    assert.equal(driver.order, null, name);
    const { length } = goals();
    clock.advance(1000);
    assert.equal(goals().length, length, name);
    driver.setVain(false);
  }
  driver.setVain(true);
  driver.aim("goto:0");
  const { length } = goals();
  assert.equal(driver.press({ x: 1, y: 0 }), true);
  assert.deepEqual([goals().length, driver.note], [length, "no effect: another client drives"]);
  driver.setVain(false);
  go();
  driver.setInput("test", [1, 0]); // the command to the wheels ends it
  assert.deepEqual([driver.order, driver.note], [null, ""]);
  driver.setInput("test", [0, 0]);
  go();
  socket.end("the robot is lost");
  assert.equal(driver.order, null);
});
