// The bar below everything: timeline, replay and recording, plots, log.

import { $, bindFold } from "./dom.js";
import { Log } from "./log.js";
import { Plots } from "./plots.js";
import { Run } from "./run.js";
import { Timeline } from "./timeline.js";

/** @import { Driver } from "./drive.js" */
/** @import { Robot } from "./robot.js" */

export class Dock {
  // A drive command ends a look at the past: driving needs the present view.
  /** @param {Driver} driver */
  constructor(driver) {
    this.timeline = new Timeline();
    this.plots = new Plots($("plots"), this.timeline);
    this.log = new Log($("log"));
    this.run = new Run();
    this.gone = false; // nothing is heard from the server: there is no present
    const { timeline } = this;
    $("timeline").addEventListener("input", () => timeline.go(timeline.latest() + Number($("timeline").value) * 1000));
    $("live").addEventListener("click", () => (timeline.past ? timeline.live() : timeline.go(Infinity)));
    $("to-live").addEventListener("click", () => timeline.live());
    driver.addEventListener("change", () => (driver.moving || driver.aiming) && timeline.live());
    timeline.addEventListener("change", () => this.update());
    bindFold($("plots-open"), $("plots"), (open) => this.plots.show(open));
    bindFold($("log-open"), $("log"), (open) => this.log.show(open));
    this.update();
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.plots.robot = robot;
    this.run.show(robot);
  }

  // lose sets whether the server is gone.
  lose(gone) {
    this.gone = gone;
    this.timeline.live();
    this.update();
  }

  tick() {
    this.timeline.trim();
    if (this.run.playback) this.run.update();
  }

  update() {
    const { timeline } = this, { past } = timeline, ago = (timeline.end - timeline.at) / 1000;
    document.documentElement.classList.toggle("past", past);
    $("live").setAttribute("aria-pressed", String(!past && !this.gone));
    $("past").hidden = !past;
    if (!past) $("timeline").value = "0";
    else if (document.activeElement !== $("timeline")) $("timeline").value = String(-ago);
    const entered = new Date(Date.now() - performance.now() + timeline.end);
    const text = past ? `${ago.toFixed(1)} s before ${entered.toLocaleTimeString()}` : "now";
    $("timeline-out").textContent = past ? `−${ago.toFixed(1)} s` : this.gone ? "–" : "now";
    $("timeline").setAttribute("aria-valuetext", this.gone ? "unknown" : text);
    $("past-text").textContent = `This is the past: ${text}. Robots move on.`;
  }
}
