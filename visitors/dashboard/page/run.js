// Replaying and recording of the robot that is shown.

import { $ } from "./dom.js";

/** @import { Playback, Recording, RunReport } from "../types" */
/** @import { Robot } from "./robot.js" */

const WATCH = "This computer may only watch: the owner of the robot gives rights.";
const SILENT = "The server does not answer.";
const LIMIT = 10000; // ms until a request that is not answered has failed
const PERIOD = 1000; // ms between two requests for changes by others

const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;

export class Run {
  constructor() {
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {Robot | null} */
    this.asking = null; // the one that is asked
    /** @type {Playback | null} */
    this.playback = null;
    /** @type {Recording | null} */
    this.recording = null;
    this.write = false; // this page may control it
    this.heard = 0; // when the state was last heard
    this.sliding = false; // the user moves the slider
    this.problem = "";
    $("play").addEventListener("click", () => {
      this.post("playback", { pause: this.playback?.state === "playing" ? "1" : "0" });
    });
    $("play-speed").addEventListener("change", () => this.post("playback", { speed: $("play-speed").value }));
    $("seek").addEventListener("change", () => {
      if (!this.playback) return;
      const time = this.playback.start + Number($("seek").value) * 1e9;
      this.post("playback", { seek: String(Math.round(time)) });
    });
    $("seek").addEventListener("pointerdown", () => (this.sliding = true));
    for (const type of ["pointerup", "pointercancel"]) $("seek").addEventListener(type, () => (this.sliding = false));
    $("record").addEventListener("click", () => this.post("record", { on: this.recording?.on ? "0" : "1" }));
    setInterval(() => this.robot?.run && !document.hidden && this.ask(), PERIOD);
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.robot = robot;
    this.playback = this.recording = null;
    this.problem = "";
    this.update();
    if (robot?.run) return this.ask();
  }

  // ask asks again, when the last request has ended: a browser sends only a few at a time.
  async ask() {
    if (this.asking === this.robot) return;
    const asking = (this.asking = this.robot);
    await this.send("run", {}, "GET");
    if (this.asking === asking) this.asking = null;
  }

  post(path, change) { return this.send(path, change, "POST"); }

  /** @type {(path: string, change: Record<string, string>, method: string) => Promise<void>} */
  async send(path, change, method) {
    const { robot } = this;
    if (!robot) return;
    try {
      const query = new URLSearchParams({ robot: robot.address, ...change });
      const reply = await fetch(`${path}?${query}`, { method, signal: AbortSignal.timeout(LIMIT) });
      if (!reply.ok) this.problem = (await reply.text()).trim();
      else if (method === "POST" || this.problem === SILENT) this.problem = "";
      if (this.robot === robot && reply.ok) this.take(await reply.json());
    } catch {
      this.problem = SILENT;
    }
    this.update();
  }

  /** @param {RunReport} report */
  take({ write, playback, recording }) {
    this.write = write;
    this.playback = playback ?? null;
    this.recording = recording ?? null;
    this.heard = performance.now();
  }

  // position returns the seconds of the log that are played.
  /** @param {Playback} playback */
  position({ start, end, time, speed, state }) {
    const since = Math.min(performance.now() - this.heard, 2 * PERIOD) / 1000; // it may have ended if nothing is heard
    const moved = state === "playing" ? since * speed : 0;
    return Math.min((time - start) / 1e9 + moved, (end - start) / 1e9);
  }

  update() {
    const { playback: p, recording: r, write } = this;
    $("playback").hidden = !p;
    $("record").hidden = !r;
    $("run-note").textContent = this.problem;
    if (p) {
      const off = !write || p.steps || p.state === "off", at = this.position(p);
      const idle = off ? "Nobody has a device of the log open." : "";
      const why = !write ? WATCH : p.steps ? "The log is replayed by steps." : idle;
      for (const id of ["play", "seek", "play-speed"]) Object.assign($(id), { disabled: off, title: why });
      $("play").textContent = p.state === "playing" ? "Pause" : "Play";
      $("seek").max = String((p.end - p.start) / 1e9);
      if (!this.sliding) $("seek").value = String(at);
      $("seek").setAttribute("aria-valuetext", clock(at));
      const state = p.state === "playing" ? "" : ` ${p.steps ? "by steps" : p.state}`;
      $("play-time").textContent = `${clock(at)} / ${clock((p.end - p.start) / 1e9)}${state}`;
      if (document.activeElement !== $("play-speed")) {
        const value = String(p.speed), options = [...$("play-speed").options];
        if (!options.some((o) => Number(o.value) === p.speed)) $("play-speed").add(new Option(`${value}×`, value));
        $("play-speed").value = value;
      }
    }
    if (r) {
      $("record").disabled = !write || !r.manual;
      $("record").setAttribute("aria-pressed", String(r.on));
      const size = r.bytes < 1e6 ? `${(r.bytes / 1e3).toFixed(0)} kB` : `${(r.bytes / 1e6).toFixed(1)} MB`;
      $("record").textContent = r.on ? `Recording · ${size}` : r.error ? "Recording failed" : "Record";
      const where = r.manual ? `into ${r.file}` : `The configuration records into ${r.file} all the time.`;
      $("record").title = r.error ?? (!write ? WATCH : where);
    }
  }
}
