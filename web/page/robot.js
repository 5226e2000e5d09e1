// A robot that is watched: its stream, its newest data, and how fresh it is.

import { HULL, MOUNTS } from "./pioneer.js";
import { DEVICES, NO_ECHO, SONAR_FAR, acknowledge, connect, decodeFrame } from "./wire.js";

const SPAN = 2; // seconds over which rates and ages are taken
const TRAIL_STEP = 0.02; // metres between the points of a trail
const TRAIL_JUMP = 0.5; // metres: nobody drives that far between two reports
const TRAIL_LENGTH = 4000; // points
const RETRY_FIRST = 1, RETRY_LAST = 8; // seconds until a lost robot is tried again

const now = () => performance.now() / 1000;

// Meter knows how often something came, and how old it was when it came.
class Meter {
  constructor() { this.events = []; }

  count(age = 0, weight = 1) {
    this.events.push({ at: now(), age, weight });
    this.trim();
  }

  // trim keeps one event from before the span, for what happened in it.
  trim() {
    const first = now() - SPAN;
    while (this.events.length > 1 && this.events[1].at < first) this.events.shift();
  }

  // rate is how much comes in a second. When it ceases, the rate falls.
  rate() {
    this.trim();
    const { events } = this;
    if (events.length < 2) return 0;
    const sum = events.slice(1).reduce((total, e) => total + e.weight, 0);
    const usual = (events.at(-1).at - events[0].at) / (events.length - 1);
    return sum / Math.max(events.at(-1).at - events[0].at, now() - events[0].at - 2 * usual);
  }

  // age is the mean age of information in seconds: how old the newest data was,
  // at any moment of the span. It is NaN if there was none.
  age() {
    this.trim();
    let area = 0, span = 0;
    this.events.forEach((e, i) => {
      const length = (this.events[i + 1]?.at ?? now()) - e.at;
      area += length * (e.age + length / 2);
      span += length;
    });
    return span > 0 ? area / span : NaN;
  }
}

export class Robot extends EventTarget {
  constructor({ name, address, mover = -1, typed = false }) {
    super();
    Object.assign(this, { name, address, mover, typed });
    this.mounts = MOUNTS;
    this.shape = [HULL];
    this.state = "off"; // off, connecting, live, lost
    this.reason = "";
    this.pinned = false; // watched, selected or not
    this.rate = 20; // Hz, asked for
    this.devices = new Map(DEVICES.map(({ letter }) => [letter, { wanted: true, access: "", meter: new Meter() }]));
    this.clear();
  }

  clear() {
    this.data = {};
    this.trail = [];
    this.dropped = 0;
    this.frames = new Meter();
    this.bytes = new Meter();
    for (const d of this.devices.values()) Object.assign(d, { access: "", meter: new Meter() });
  }

  // learn takes what the simulator knows of the robot's build.
  learn({ mounts, parts }) {
    this.mounts = { ...MOUNTS, ...Object.fromEntries(Object.entries(mounts).filter(([, mount]) => mount)) };
    this.shape = parts.flatMap((part) => part.outlines);
    this.changed();
  }

  changed() { this.dispatchEvent(new Event("change")); }

  setState(state, reason = "") {
    this.state = state;
    this.reason = reason;
    this.changed();
  }

  watch() {
    if (this.socket) return;
    clearTimeout(this.retryTimer);
    this.clear();
    this.setState("connecting");
    const socket = (this.socket = connect("stream", { robot: this.address }));
    socket.onopen = () => {
      this.order({ rate: this.rate, request: this.wanted().map((letter) => letter + "r").join("") });
    };
    socket.onmessage = ({ data }) => {
      if (this.socket !== socket) return;
      typeof data === "string" ? this.report(JSON.parse(data)) : this.take(data);
    };
    socket.onclose = ({ reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      for (const letter of this.devices.keys()) delete this.data[letter];
      this.setState("lost", reason || "the page's server does not answer");
      this.retry = Math.min((this.retry || RETRY_FIRST / 2) * 2, RETRY_LAST);
      this.retryTimer = setTimeout(() => this.watch(), this.retry * 1000);
    };
  }

  unwatch() {
    clearTimeout(this.retryTimer);
    this.socket?.close();
    this.socket = null;
    this.retry = 0;
    this.clear();
    this.setState("off");
  }

  order(order) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(order));
  }

  wanted() { return [...this.devices].filter(([, d]) => d.wanted).map(([letter]) => letter); }

  // want subscribes to a device or ends the subscription.
  want(letter, on) {
    const d = this.devices.get(letter);
    d.wanted = on;
    if (!on) delete this.data[letter];
    if (on || d.access === "r") this.order({ request: letter + (on ? "r" : "c") });
    if (on) d.access = "";
    this.changed();
  }

  setRate(hz) {
    this.rate = hz;
    this.order({ rate: hz });
  }

  report({ access }) {
    for (const [letter, d] of this.devices) if (access[letter]) d.access = access[letter];
    this.retry = 0;
    this.setState("live");
  }

  take(buffer) {
    const frame = decodeFrame(buffer);
    acknowledge(this.socket, frame.number);
    this.dropped = frame.dropped;
    this.frames.count();
    this.bytes.count(0, buffer.byteLength);
    for (const { letter, age, data } of frame.blocks) {
      const d = this.devices.get(letter);
      if (!d?.wanted) continue;
      d.meter.count(age);
      if (data) this.data[letter] = data;
      else delete this.data[letter];
      if (data && letter === "p") this.grow(data);
    }
    this.changed();
  }

  grow({ x, y }) {
    const last = this.trail.at(-1);
    const step = last ? Math.hypot(x - last.x, y - last.y) : Infinity;
    if (step < TRAIL_STEP) return;
    this.trail.push({ x, y, jump: step > TRAIL_JUMP });
    if (this.trail.length > TRAIL_LENGTH) this.trail.shift();
  }

  // seen lists the points that laser and sonar see, in the robot's frame.
  seen() {
    const { l: laser = [], s: sonar = [] } = this.data, points = [];
    const see = ({ X, Y, Heading }, angle, range) => points.push({ x: X + range * Math.cos(Heading + angle), y: Y + range * Math.sin(Heading + angle) });
    laser.forEach((r, i) => r > 0 && r < NO_ECHO && see(this.mounts.Laser, ((i / 2 - 90) * Math.PI) / 180, r));
    sonar.forEach((r, i) => r > 0 && r < SONAR_FAR && this.mounts.Sonars[i] && see(this.mounts.Sonars[i], 0, r));
    return points;
  }

  // nearest is the distance, from the robot's centre, and the direction of the
  // nearest point that is seen.
  nearest() {
    let best = null;
    for (const { x, y } of this.seen()) {
      const distance = Math.hypot(x, y);
      if (!best || distance < best.distance) best = { distance, angle: Math.atan2(y, x) };
    }
    return best;
  }
}
