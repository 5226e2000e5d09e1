// Replaying and recording of the robot that is shown.

const WATCH = "This computer may only watch: the owner of the robot gives rights.";
const SILENT = "The server does not answer.";
const LIMIT = 10000; // ms until a request that is not answered has failed
const PERIOD = 1000; // ms between two requests for what others have changed
const $ = (id) => document.getElementById(id);

const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;

export class Run {
  constructor() {
    $("play").addEventListener("click", () => this.post("playback", { pause: this.playback.state === "playing" ? 1 : 0 }));
    $("play-speed").addEventListener("change", () => this.post("playback", { speed: $("play-speed").value }));
    $("seek").addEventListener("change", () => this.post("playback", { seek: String(Math.round(this.playback.start + $("seek").value * 1e9)) }));
    $("seek").addEventListener("pointerdown", () => (this.held = true));
    for (const type of ["pointerup", "pointercancel"]) $("seek").addEventListener(type, () => (this.held = false));
    $("record").addEventListener("click", () => this.post("record", { on: this.recording.on ? 0 : 1 }));
    setInterval(() => this.robot?.run && !document.hidden && this.ask(), PERIOD);
  }

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

  async send(path, change, method) {
    const { robot } = this;
    let reply = null;
    try {
      reply = await fetch(`${path}?${new URLSearchParams({ robot: robot.address, ...change })}`, { method, signal: AbortSignal.timeout(LIMIT) });
      if (!reply.ok) this.problem = (await reply.text()).trim();
      else if (method === "POST" || this.problem === SILENT) this.problem = "";
      if (this.robot === robot && reply.ok) Object.assign(this, { playback: null, recording: null }, await reply.json(), { heard: performance.now() });
    } catch {
      this.problem = SILENT;
    }
    this.update();
  }

  // position returns the seconds of the log that are played.
  position() {
    const { start, end, time, speed, state } = this.playback;
    const moved = state === "playing" ? (Math.min(performance.now() - this.heard, 2 * PERIOD) / 1000) * speed : 0; // it may have ended if nothing is heard
    return Math.min((time - start) / 1e9 + moved, (end - start) / 1e9);
  }

  update() {
    const { playback: p, recording: r, write } = this;
    $("playback").hidden = !p;
    $("record").hidden = !r;
    $("run-note").textContent = this.problem;
    if (p) {
      const off = !write || p.steps || p.state === "off", at = this.position();
      const why = !write ? WATCH : p.steps ? "The log is replayed by steps." : off ? "Nobody has a device of the log open." : "";
      for (const id of ["play", "seek", "play-speed"]) Object.assign($(id), { disabled: off, title: why });
      $("play").textContent = p.state === "playing" ? "Pause" : "Play";
      $("seek").max = (p.end - p.start) / 1e9;
      if (!this.held) $("seek").value = at;
      $("seek").setAttribute("aria-valuetext", clock(at));
      $("play-time").textContent = `${clock(at)} / ${clock((p.end - p.start) / 1e9)}${p.state === "playing" ? "" : ` ${p.steps ? "by steps" : p.state}`}`;
      if (document.activeElement !== $("play-speed")) {
        if (![...$("play-speed").options].some((o) => +o.value === p.speed)) $("play-speed").add(new Option(`${p.speed}×`, p.speed));
        $("play-speed").value = p.speed;
      }
    }
    if (r) {
      $("record").disabled = !write || !r.manual;
      $("record").setAttribute("aria-pressed", r.on);
      $("record").textContent = r.on ? `Recording · ${r.bytes < 1e6 ? `${(r.bytes / 1e3).toFixed(0)} kB` : `${(r.bytes / 1e6).toFixed(1)} MB`}` : r.error ? "Recording failed" : "Record";
      $("record").title = r.error ?? (!write ? WATCH : r.manual ? `into ${r.file}` : `The configuration records into ${r.file} all the time.`);
    }
  }
}
