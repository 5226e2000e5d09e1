// The robot that is driven from this page, on a socket of its own. The dead man's
// rule: the robot moves only while the user presses a key, the stick or the
// gamepad, on a page that is visible and has the focus; and the server stops it
// when it hears nothing from the dashboard (executor.go). After a stop that the user
// did not make, every input must be released before the robot moves again.

import { outside } from "./geometry.js";
import { keyInput, padInput, speeds, steers, stickInput, stickOffset } from "./steering.js";
import { connect } from "./wire.js";

/** @import { DriveMessage, DriveReport, Name, Point } from "../types" */
/** @import { Robot } from "./robot.js" */

const REPEAT = 100; // ms between repetitions of a command; the server stops the robot after four
const LEAST_INTERVAL = 40; // ms between different commands: a stick moves on every frame of the screen
const PAD_DRIVES = "; gamepad: hold a shoulder button";
const PAD_NEEDS = "; gamepad: most browsers need https:// or localhost for it";

export class Driver extends EventTarget {
  constructor() {
    super();
    this.limits = { speed: 300, turn: 60 }; // mm/s, deg/s
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {DriveMessage[]} */
    this.waiting = []; // until the socket is open
    /** @type {Map<string, [forward: number, left: number]>} */
    this.inputs = new Map(); // source → [forward, left], each -1 to 1; without those at rest
    this.locked = false; // until all inputs are released
    this.blocked = false; // driving is not possible, or not from here
    this.keeps = false; // control: it also commands while no client drives
    this.vain = false; // commands have no effect: another client drives
    /** @type {[speed: number, turn: number]} */
    this.sent = [0, 0]; // the last command: mm/s, deg/s
    this.sentAt = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = this.pursuit = undefined;
    this.note = ""; // why the robot stopped, or which request failed
    this.aiming = ""; // the goto device that gets the next place that is pressed
    /** @type {{ device: Name, goal: { x: number, y: number, tag: number }, known?: boolean } | null} */
    this.order = null; // the goal that is repeated. known: the device has it
  }

  // select drives another robot from now on. The previous one stops.
  /** @param {Robot | null} robot */
  select(robot) {
    if (robot === this.robot) return;
    this.halt();
    this.close();
    this.robot = robot;
    this.changed();
  }

  changed() { this.dispatchEvent(new Event("change")); }

  // setInput sets the input of one source: keys, stick or gamepad.
  /** @type {(source: string, input: [forward: number, left: number]) => void} */
  setInput(source, [forward, left]) {
    if (forward === 0 && left === 0) this.inputs.delete(source);
    else this.inputs.set(source, [forward, left]);
    if (this.inputs.size === 0) this.locked = false;
    this.update();
  }

  // halt stops the robot, whatever the user presses.
  halt(note = "") {
    this.locked = this.inputs.size > 0;
    this.keeps = false;
    if (note && (this.moving || this.order)) this.note = note;
    this.leave();
    this.update();
    this.changed();
  }

  // block disables driving, or enables it.
  block(on) {
    if (on === this.blocked) return;
    this.blocked = on;
    if (on) this.halt();
    this.changed();
  }

  // setVain sets whether the server drops commands, because another client drives.
  setVain(vain) {
    if (vain === this.vain) return;
    this.vain = vain;
    if (vain) this.leave();
    this.changed();
  }

  // aim has the next place that is pressed be the goal for a device.
  aim(device) {
    this.aiming = device;
    this.changed();
  }

  // press takes a place in the frame of the robot. It reports whether that is a goal.
  /** @param {Point} point */
  press(point) {
    const device = /** @type {Name} */ (this.aiming), p = this.robot?.data.p;
    this.aiming = "";
    if (!device || !p) return false;
    this.go(device, outside(p, point));
    return true;
  }

  // go gives a device a goal in the frame of the odometry.
  /** @type {(device: Name, goal: Point) => void} */
  go(device, { x, y }) {
    const tag = 1 + Math.floor(Math.random() * 0xffff);
    this.aiming = "";
    this.note = this.vain ? "no effect: another client drives" : "";
    if (!this.vain) this.order = { device, goal: { x: Math.round(x * 1000), y: Math.round(y * 1000), tag } };
    this.pursue();
    this.changed();
  }

  // pursue repeats the goal: the server gives it up when it hears nothing from the page.
  pursue() {
    clearTimeout(this.pursuit);
    if (!this.order) return;
    const { device, goal } = this.order;
    this.send({ device, goal: { ...goal, ...this.limits } });
    this.pursuit = setTimeout(() => this.pursue(), REPEAT);
  }

  // follow ends the repetition when the device has ended the goal, or has another one.
  follow() {
    const { order } = this, now = order && this.robot?.data[order.device];
    if (!order || !now) return;
    const same = now.tag === order.goal.tag;
    if (same ? now.state !== 1 && now.state !== 3 : order.known) this.order = null;
    order.known = same;
  }

  // leave gives the goal up.
  leave() {
    const { order } = this;
    this.aiming = "";
    this.order = null;
    if (order) this.send({ device: order.device, goal: {} });
  }

  // take stops the robot, and keeps control until halt.
  take() {
    this.keeps = true;
    this.update();
  }

  get moving() { return this.sent[0] !== 0 || this.sent[1] !== 0; }

  // update sends the speeds when they are due: a stop and a start at once, a
  // change after LEAST_INTERVAL, a repetition after REPEAT.
  update() {
    clearTimeout(this.timer);
    /** @type {[speed: number, turn: number]} */
    const command = this.locked || this.blocked ? [0, 0] : speeds(this.inputs.values(), this.limits);
    const stop = command[0] === 0 && command[1] === 0;
    if (!this.robot || (stop && !this.moving && !this.keeps)) return;
    const same = command[0] === this.sent[0] && command[1] === this.sent[1];
    const wait = stop || !this.moving ? 0 : this.sentAt + (same ? REPEAT : LEAST_INTERVAL) - performance.now();
    if (wait > 0) {
      this.timer = setTimeout(() => this.update(), wait);
      return;
    }
    this.sent = command;
    this.sentAt = performance.now();
    if (!stop) {
      this.note = "";
      this.order = null; // the command to the wheels ends it
    }
    if (!stop || this.keeps) this.timer = setTimeout(() => this.update(), REPEAT);
    // Without a socket the robot stands already.
    if (stop && this.keeps) this.send({ drive: command, take: true }); // whichever client drives
    else if (!stop || this.socket) this.send({ drive: command });
    this.changed();
  }

  // send sends a message to the server, which connects to the robot first. Of
  // speeds that wait for that, the newest are sent.
  /** @param {DriveMessage} message */
  send(message) {
    if (!this.robot) return;
    const socket = this.socket ?? this.open(this.robot);
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify(message));
      return;
    }
    if (message.drive) this.waiting = this.waiting.filter((m) => !m.drive);
    this.waiting.push(message);
  }

  // open returns the socket for a robot.
  /** @param {Robot} robot */
  open(robot) {
    this.waiting = [];
    const socket = (this.socket = connect("drive", { robot: robot.address }));
    socket.onopen = () => {
      for (const message of this.waiting) socket.send(JSON.stringify(message));
      this.waiting = [];
    };
    socket.onmessage = ({ data }) => {
      const { error } = /** @type {DriveReport} */ (JSON.parse(data));
      if (socket !== this.socket || !error) return;
      this.fail(error);
    };
    socket.onclose = ({ reason }) => {
      if (socket !== this.socket) return;
      this.forget();
      this.locked = this.inputs.size > 0;
      this.keeps = false;
      this.fail(`stopped: ${reason || "the connection is lost"}`);
    };
    return socket;
  }

  // fail shows that a message had no effect. The server does not say which one.
  fail(note) {
    this.note = note;
    if (this.robot) this.robot.motors = undefined; // whether they were switched is not known
    this.changed();
  }

  // close ends the connection; the robot's server then stops the wheels.
  close() {
    const { socket } = this;
    this.forget();
    socket?.close();
    this.changed();
  }

  forget() {
    this.socket = this.order = null;
    this.sent = [0, 0];
  }
}

// bindFocus stops the robot when the dashboard loses the focus or is hidden.
/** @param {Driver} driver */
export function bindFocus(driver) {
  addEventListener("blur", () => driver.halt("stopped: the dashboard lost the focus"));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    driver.halt("stopped: the dashboard was hidden");
    driver.close();
  });
  addEventListener("pagehide", () => {
    driver.halt();
    driver.close();
  });
}

// usesKey reports whether the focused element needs a key for itself.
const usesKey = ({ target, code }) =>
  target.closest?.("select, textarea, input:not([type=range])") ||
  (target.closest?.("input[type=range]") && code.startsWith("Arrow"));

/** @param {Driver} driver */
export function bindKeys(driver) {
  const down = new Set();
  const update = () => driver.setInput("keys", keyInput(down));
  const release = () => {
    down.clear();
    update();
  };
  addEventListener("keydown", (e) => {
    if (e.code === "Escape" && !e.repeat && !usesKey(e)) {
      driver.halt();
      driver.dispatchEvent(new Event("stop"));
      return;
    }
    if (!steers(e.code) || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey || e.defaultPrevented || usesKey(e)) return;
    e.preventDefault();
    if (e.repeat) return;
    down.add(e.code);
    update();
  });
  addEventListener("keyup", (e) => {
    if (e.key === "Meta") return release(); // while it is down, macOS reports no release of other keys
    if (down.delete(e.code)) update();
  });
  addEventListener("blur", release);
}

// bindStick makes a disc with a knob a stick.
/** @type {(driver: Driver, disc: HTMLElement, knob: HTMLElement) => void} */
export function bindStick(driver, disc, knob) {
  let pointer = null, box = disc.getBoundingClientRect(); // where the disc was when it was grabbed: a notice may move it
  const move = (offset) => {
    knob.style.transform = `translate(${offset.x * 100}%, ${offset.y * 100}%)`;
    driver.setInput("stick", stickInput(offset));
  };
  const follow = (e) => {
    const x = e.clientX - box.left - box.width / 2, y = e.clientY - box.top - box.height / 2;
    move(stickOffset(x, y, box.width / 2 - knob.offsetWidth / 4));
  };
  disc.addEventListener("pointerdown", (e) => {
    if (e.button > 0 || pointer !== null) return;
    pointer = e.pointerId;
    box = disc.getBoundingClientRect();
    disc.setPointerCapture(pointer);
    disc.classList.add("held");
    follow(e);
  });
  disc.addEventListener("pointermove", (e) => e.pointerId === pointer && follow(e));
  const release = (e) => {
    if (e.pointerId !== undefined && e.pointerId !== pointer) return;
    pointer = null;
    disc.classList.remove("held");
    move({ x: 0, y: 0 });
  };
  for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) disc.addEventListener(type, release);
  addEventListener("blur", release);
}

// bindGamepad reads the first gamepad while one is connected. hint says how it drives then, or
// that the browser may offer none on a page which came without TLS.
/** @type {(driver: Driver, hint: HTMLElement) => void} */
export function bindGamepad(driver, hint) {
  let polling = false;
  const show = (pad) => {
    hint.hidden = !pad && isSecureContext;
    hint.textContent = pad ? PAD_DRIVES : PAD_NEEDS;
  };
  const poll = () => {
    const pad = gamepads().find((p) => p?.connected);
    show(pad);
    polling = Boolean(pad);
    driver.setInput("pad", pad ? padInput(pad) : [0, 0]);
    if (pad) requestAnimationFrame(poll); // pauses while the dashboard is hidden
  };
  addEventListener("gamepadconnected", () => {
    if (!polling) poll();
  });
  show(null);
}

// gamepads returns those that the browser lets this page see.
function gamepads() {
  try {
    return [...navigator.getGamepads()];
  } catch {
    return []; // refused by a policy, or missing without TLS
  }
}
