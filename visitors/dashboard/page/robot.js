// A robot: its stream socket, its newest data, and the rate and age of that.

import { nearest, obstacles, raysPoints } from "./geometry.js";
import { Meter } from "./meter.js";
import { othersOf, ranging } from "./others.js";
import { HULL, MOUNTS } from "./pioneer.js";
import { ROBOT_TRAIL, extend, follow } from "./trail.js";
import { DEVICES, acknowledge, connect, decodeFrame } from "./wire.js";

/** @import { Data, Equipment, Key, Mounts, Name, Other, Refusal, RobotOptions, SceneMounts } from "../types" */
/** @import { Shape, StreamReport, Track, TrailPoint, Vec } from "../types" */

const BATCH = 32; // devices in a message: the server takes 4 kB
const RETRY_FIRST = 1, RETRY_LAST = 8; // seconds until the next attempt to reach a lost robot

// device has all facts about a device. access is the access that the robot granted.
const device = () => ({
  wanted: true, access: "", meter: new Meter(), refused: /** @type {Refusal | undefined} */ (undefined),
});

export class Robot extends EventTarget {
  /** @param {RobotOptions} options */
  constructor({ name, address, mover = -1, typed = false, run = false, cameras = [], pages = [], newest }) {
    super();
    this.name = name;
    this.address = address;
    this.mover = mover;
    this.typed = typed;
    this.run = run;
    this.cameras = cameras;
    this.pages = pages;
    this.newest = newest;
    /** @type {Mounts} */
    this.mounts = MOUNTS;
    /** @type {Vec[][]} */
    this.shape = [HULL];
    /** @type {"off" | "connecting" | "live" | "lost"} */
    this.state = "off";
    this.reason = "";
    this.stopped = false; // by an emergency stop
    this.gone = false; // nothing is heard from the server of the page
    this.here = false; // it is a robot of that server
    /** @type {string[]} */
    this.trouble = []; // the devices that are not well, as texts
    this.used = false; // a client has a device of it open
    this.pinned = false; // watched even while another robot is shown
    this.rate = first.rate; // Hz, as requested
    /** @type {boolean | undefined} */
    this.motors = undefined; // whether they are on, as far as this page knows
    /** @type {Map<Key, ReturnType<typeof device>>} */
    this.devices = new Map(DEVICES.map(({ letter }) => [letter, device()]));
    /** @type {Other[]} */
    this.others = []; // its devices without letters
    /** @type {Map<number, Name>} */
    this.names = new Map(); // of these, by the numbers of their data
    /** @type {Map<Name, Track>} */
    this.tracks = new Map(); // of its receivers of satellites
    /** @type {Map<Name, number>} */
    this.asked = new Map(); // the readings of rangers that do not fit their rays, for which these were asked for
    /** @type {Data} */
    this.data = {};
    /** @type {TrailPoint[]} */
    this.trail = [];
    this.dropped = 0; // rounds of data that were merged into later ones
    this.frames = new Meter();
    this.bytes = new Meter();
    this.heardAt = performance.now();
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {object[]} */
    this.unsent = []; // messages that wait until the socket is open
    this.retry = 0; // seconds until the next attempt to reach it
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retryTimer = undefined;
  }

  clear() {
    this.data = {};
    this.trail = [];
    this.names.clear();
    this.tracks.clear();
    this.asked.clear();
    this.dropped = 0;
    this.frames = new Meter();
    this.bytes = new Meter();
    for (const d of this.devices.values()) Object.assign(d, { access: "", meter: new Meter() });
  }

  // setBuild replaces the shape and the mounts of a Pioneer by those that the
  // simulator reports. Mounts that it does not report stay.
  /** @param {{ mounts?: SceneMounts, parts: { outlines: Vec[][] }[] }} build */
  setBuild({ mounts = {}, parts }) {
    this.mounts = { ...MOUNTS, ...Object.fromEntries(Object.entries(mounts).filter(([, mount]) => mount)) };
    this.shape = parts.flatMap((part) => part.outlines);
    this.changed();
  }

  // loadShape asks for the shape that the robot's driver knows, once it is connected.
  async loadShape() {
    try {
      const reply = await fetch(`shape?robot=${encodeURIComponent(this.address)}`);
      if (!reply.ok || reply.status === 204) return; // 204: it knows none
      const { Outline, ...mounts } = /** @type {Shape} */ (await reply.json());
      this.setBuild({ mounts, parts: [{ outlines: [Outline ?? HULL] }] });
    } catch {
      // It is drawn as a Pioneer 2-DX.
    }
  }

  changed() { this.dispatchEvent(new Event("change")); }

  /** @type {(state: Robot["state"], reason?: string) => void} */
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
    if (this.newest) this.takeData(Uint8Array.from(atob(this.newest), (c) => c.charCodeAt(0)).buffer);
    this.newest = undefined;
    const wanted = DEVICES.map(({ letter }) => letter).filter((letter) => this.device(letter).wanted);
    const socket = (this.socket = connect("stream", first.stream(this.address, this.rate, wanted)));
    this.unsent = [];
    socket.onopen = () => this.unsent.splice(0).forEach((message) => this.send(message));
    socket.onmessage = ({ data }) => {
      if (this.socket !== socket) return;
      if (typeof data !== "string") return this.takeFrame(socket, data);
      const message = /** @type {StreamReport | Equipment} */ (JSON.parse(data));
      "others" in message ? this.takeEquipment(message) : this.takeReport(message);
    };
    socket.onclose = ({ reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      for (const key of this.devices.keys()) delete this.data[key];
      this.retry = Math.min((this.retry || RETRY_FIRST / 2) * 2, RETRY_LAST);
      this.setState("lost", reason || "no connection to the server");
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

  // send sends a message, as soon as the socket is open.
  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else if (this.socket?.readyState === WebSocket.CONNECTING) this.unsent.push(message);
  }

  // want subscribes to a device or unsubscribes from it.
  /** @type {(key: Key, on: boolean) => void} */
  want(key, on) {
    const d = this.device(key);
    d.wanted = on;
    if (!on) delete this.data[key];
    const message = key.length > 1 ? { [on ? "open" : "close"]: [key] } : { request: key + (on ? "r" : "c") };
    if (on || d.access === "r" || d.access === "") this.send(message);
    if (on) d.access = "";
    this.changed();
  }

  setRate(hz) {
    this.rate = hz;
    this.send({ rate: hz });
  }

  // takeEquipment takes what the robot says of its devices without letters. It asks for those that
  // are wanted.
  /** @param {Equipment} equipment */
  takeEquipment(equipment) {
    const others = othersOf(equipment);
    this.names = new Map(equipment.others.map(({ name, code }) => [code, name]));
    this.others = others;
    const open = [];
    for (const { name, wanted } of others) {
      let d = this.devices.get(name);
      if (!d) this.devices.set(name, (d = { ...device(), wanted }));
      if (d.wanted && d.access === "") open.push(name);
    }
    for (const key of this.devices.keys()) {
      if (key.length === 1 || others.some(({ name }) => name === key)) continue;
      this.devices.delete(key);
      delete this.data[key];
    }
    while (open.length) this.send({ open: open.splice(0, BATCH) });
    this.changed();
  }

  // takeReport takes the access that the robot granted, by device, and why others were refused.
  /** @param {StreamReport} report */
  takeReport({ access, refused = {} }) {
    for (const [key, d] of this.devices) {
      if (access[key]) d.access = access[key];
      d.refused = refused[key];
    }
    this.retry = 0;
    if (this.state !== "live") this.heardAt = performance.now();
    this.setState("live");
    if (this.mover < 0) this.loadShape();
  }

  /** @type {(socket: WebSocket, buffer: ArrayBuffer) => void} */
  takeFrame(socket, buffer) {
    const { number, dropped } = this.takeData(buffer);
    acknowledge(socket, number);
    this.dropped = dropped;
    this.frames.count();
    this.bytes.count(0, buffer.byteLength);
  }

  /** @param {ArrayBuffer} buffer */
  takeData(buffer) {
    const frame = decodeFrame(buffer, this.names);
    this.heardAt = performance.now();
    for (const { key, age, data } of frame.blocks) {
      const d = this.devices.get(key);
      if (!d?.wanted) continue;
      d.meter.count(age);
      if (data) this.data[key] = data;
      else delete this.data[key];
      if (data && key === "p") extend(this.trail, data, ROBOT_TRAIL);
      if (data && key.startsWith("gps:")) follow(this.tracks, /** @type {Name} */ (key), data);
      if (data && key.startsWith("ranger:")) this.checkRays(/** @type {Name} */ (key), data.length);
    }
    this.changed();
    return frame;
  }

  // checkRays opens a ranger again if its rays belong to another number of readings: a driver
  // that starts again may have another.
  /** @type {(name: Name, readings: number) => void} */
  checkRays(name, readings) {
    const known = this.others.find((other) => other.name === name)?.rays.reduce((sum, { count }) => sum + count, 0);
    if (known === readings || this.asked.get(name) === readings) return;
    this.asked.set(name, readings);
    this.send({ open: [name] });
  }

  // device returns what is known of one of DEVICES or of others.
  /** @param {Key} key */
  device(key) { return /** @type {ReturnType<typeof device>} */ (this.devices.get(key)); }

  // silence returns how long nothing has come from the robot, seconds.
  silence() { return (performance.now() - this.heardAt) / 1000; }

  // obstacles returns the points that the robot detects, in its frame.
  obstacles() {
    const further = ranging(this).flatMap(({ name, rays }) => raysPoints(rays, this.data[name]).filter((p) => p.echo));
    return [...obstacles(this.data, this.mounts), ...further];
  }

  // nearest returns distance and direction of the nearest of them, or null.
  nearest() { return nearest(this.obstacles()); }
}
