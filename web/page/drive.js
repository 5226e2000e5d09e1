// The one robot that is driven from this page, on a socket of its own. The rule
// of the dead man: the robot moves only while somebody holds a key, the stick
// or the gamepad, on a page that is seen and has the focus; and the server stops
// it when it hears nothing (commander.go). After a stop that the user did not make,
// everything must be let go once before it moves again.

import { connect } from "./wire.js";

const REPEAT = 100; // ms between repetitions of a command; the server's patience is four of them
const HASTE = 40; // ms between different commands at least
const STICK_DEAD = 0.08; // of the stick's way, about its middle
const PAD_DEAD = 0.12; // worn gamepads rest that far from the middle
const SHOULDERS = [4, 5, 6, 7]; // the gamepad's buttons that must be held (W3C standard layout)

// KEYS: what a key asks for, forward and turning left, by its place on the
// keyboard.
const KEYS = {
  ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, 1], ArrowRight: [0, -1],
  KeyW: [1, 0], KeyS: [-1, 0], KeyA: [0, 1], KeyD: [0, -1],
};

const clip = (v) => Math.max(-1, Math.min(1, v));
const settle = (v, dead) => (Math.abs(v) < dead ? 0 : (Math.sign(v) * (Math.abs(v) - dead)) / (1 - dead));

export class Driver extends EventTarget {
  constructor() {
    super();
    this.limits = { speed: 300, turn: 60 }; // mm/s, deg/s
    this.sources = new Map(); // name → [forward, left], each -1 to 1
    this.locked = false; // until all is let go
    this.sent = [0, 0];
    this.held = "";
    this.note = "";
  }

  // select drives another robot from now on. The one before stops.
  select(robot) {
    if (robot === this.robot) return;
    this.halt();
    this.close();
    this.robot = robot;
    this.changed();
  }

  changed() { this.dispatchEvent(new Event("change")); }

  // ask is what one source asks for.
  ask(source, forward, left) {
    if (forward === 0 && left === 0) this.sources.delete(source);
    else this.sources.set(source, [forward, left]);
    if (this.sources.size === 0) this.locked = false;
    this.push();
  }

  // halt stops, whatever is held.
  halt(note = "") {
    this.locked = this.sources.size > 0;
    if (note && this.moving) this.note = note;
    this.push();
  }

  get moving() { return this.sent[0] !== 0 || this.sent[1] !== 0; }

  // command is what is to be sent: mm/s and deg/s.
  command() {
    if (this.locked) return [0, 0];
    const sum = [0, 0];
    for (const [forward, left] of this.sources.values()) {
      sum[0] += forward;
      sum[1] += left;
    }
    return [Math.round(clip(sum[0]) * this.limits.speed), Math.round(clip(sum[1]) * this.limits.turn)];
  }

  // push sends the command if it is due: a stop and a start at once, a change
  // soon, the same again after REPEAT.
  push() {
    clearTimeout(this.timer);
    const command = this.command();
    const stop = command[0] === 0 && command[1] === 0;
    if (stop && !this.moving) return;
    if (!this.robot) return;
    const since = performance.now() - (this.sentAt ?? 0);
    const same = command[0] === this.sent[0] && command[1] === this.sent[1];
    const due = stop || !this.moving ? 0 : (same ? REPEAT : HASTE) - since;
    if (due > 0) {
      this.timer = setTimeout(() => this.push(), due);
      return;
    }
    this.sent = command;
    this.sentAt = performance.now();
    if (!stop) this.note = "";
    this.send({ drive: command }, stop);
    if (!stop) this.timer = setTimeout(() => this.push(), REPEAT);
    this.changed();
  }

  // send gives an order to the robot; a stop needs no new connection.
  send(order, stop = false) {
    if (!this.robot || (stop && !this.socket)) return;
    if (!this.socket) this.open();
    if (this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(order));
    } else if (order.drive) {
      this.waiting = this.waiting.filter((o) => !o.drive).concat(order); // the newest only
    } else {
      this.waiting.push(order);
    }
  }

  open() {
    this.waiting = [];
    const socket = (this.socket = connect("drive", { robot: this.robot.address }));
    socket.onopen = () => {
      for (const order of this.waiting) socket.send(JSON.stringify(order));
      this.waiting = [];
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      const { held, error } = JSON.parse(data);
      this.held = held;
      if (error) this.note = error;
      this.changed();
    };
    socket.onclose = ({ reason }) => {
      if (socket !== this.socket) return;
      this.socket = null;
      this.held = "";
      this.locked = this.sources.size > 0;
      this.sent = [0, 0]; // the server has stopped it
      this.note = `stopped: ${reason || "the connection is lost"}`;
      this.changed();
    };
  }

  // close gives everything up; the robot's server stops the wheels.
  close() {
    const socket = this.socket;
    this.socket = null;
    this.held = "";
    this.sent = [0, 0];
    socket?.close();
    this.changed();
  }
}

// watchAttention stops the robot when the user looks elsewhere.
export function watchAttention(driver) {
  addEventListener("blur", () => driver.halt("stopped: the window lost the focus"));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    driver.halt("stopped: the page was hidden");
    driver.close();
  });
  addEventListener("pagehide", () => {
    driver.halt();
    driver.close();
  });
}

// writes says that keys belong to the element that has the focus.
const writes = (e) => e.target.closest?.("select, textarea, input:not([type=range])");
const slides = (e) => e.target.closest?.("input[type=range]") && e.code.startsWith("Arrow");

export function watchKeys(driver) {
  const down = new Set();
  const ask = () => {
    const sum = [0, 0];
    for (const code of down) sum.forEach((_, i) => (sum[i] += KEYS[code][i]));
    // Two keys against each other are held, too.
    driver.ask("keys", clip(sum[0]), clip(sum[1]));
  };
  const release = () => {
    down.clear();
    ask();
  };
  addEventListener("keydown", (e) => {
    if (e.code === "Escape") return driver.halt();
    if (!KEYS[e.code] || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey || e.defaultPrevented || writes(e) || slides(e)) return;
    e.preventDefault();
    if (e.repeat) return;
    down.add(e.code);
    ask();
  });
  addEventListener("keyup", (e) => {
    if (e.key === "Meta") return release(); // while it is held, other keys are not reported as let go
    if (down.delete(e.code)) ask();
  });
  addEventListener("blur", release);
}

// watchStick makes a disc a stick: up is forward.
export function watchStick(driver, disc, knob) {
  let pointer = null;
  const ask = (x, y) => {
    knob.style.transform = `translate(${x * 100}%, ${y * 100}%)`;
    driver.ask("stick", settle(-y, STICK_DEAD), settle(-x, STICK_DEAD));
  };
  const follow = (e) => {
    const box = disc.getBoundingClientRect(), reach = box.width / 2 - knob.offsetWidth / 4;
    let x = (e.clientX - box.left - box.width / 2) / reach, y = (e.clientY - box.top - box.height / 2) / reach;
    const far = Math.max(1, Math.hypot(x, y));
    ask(x / far, y / far);
  };
  disc.addEventListener("pointerdown", (e) => {
    if (e.button > 0 || pointer !== null) return;
    pointer = e.pointerId;
    disc.setPointerCapture(pointer);
    disc.classList.add("held");
    follow(e);
  });
  disc.addEventListener("pointermove", (e) => e.pointerId === pointer && follow(e));
  const release = (e) => {
    if (e.pointerId !== undefined && e.pointerId !== pointer) return;
    pointer = null;
    disc.classList.remove("held");
    ask(0, 0);
  };
  for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) disc.addEventListener(type, release);
  addEventListener("blur", release);
}

// watchPad reads the first gamepad while there is one. hint is shown then.
export function watchPad(driver, hint) {
  let polling = false;
  const poll = () => {
    const pad = [...navigator.getGamepads()].find((p) => p?.connected);
    hint.hidden = !pad;
    if (!pad) {
      polling = false;
      return driver.ask("pad", 0, 0);
    }
    const held = SHOULDERS.some((i) => pad.buttons[i]?.pressed);
    driver.ask("pad", held ? settle(-pad.axes[1], PAD_DEAD) : 0, held ? settle(-pad.axes[0], PAD_DEAD) : 0);
    requestAnimationFrame(poll); // which ends while the page is hidden
  };
  addEventListener("gamepadconnected", () => {
    if (!polling) poll();
    polling = true;
  });
}
