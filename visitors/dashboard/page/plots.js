// Plots over the last minute of the robot that is shown.

import { sized, stroke } from "./canvas.js";
import { part } from "./dom.js";
import { keepList, keptList } from "./kept.js";
import { degrees, nearest, obstacles } from "./geometry.js";
import { SPAN } from "./timeline.js";
import { palette } from "./view.js";
import { DEVICES } from "./wire.js";

/** @import { Letter, RobotMoment } from "../types" */
/** @import { Robot } from "./robot.js" */
/** @import { Timeline } from "./timeline.js" */
/** @typedef {(moment: RobotMoment, robot: Robot) => number | undefined} Value */

const GAP = 1500; // ms without data that interrupt a line
const PERIOD = 250; // ms between drawings while the plots are open
const COLORS = { l: "laser", s: "sonar", p: "trail", z: "camera", v: "camera" }; // as of the buttons of the devices

// A plot is a name, its unit, the least range of its axis, and its lines: a device, by
// letter, or "", and its value at a moment.
/** @type {Value} */
const near = (m, robot) => (m.near ??= nearest(obstacles(m.data, robot.mounts))?.distance ?? NaN);
/** @type {(letter: Letter) => [Letter, Value]} */
const age = (letter) => [letter, (m) => 1000 * (m.ages.find(([l]) => l === letter)?.[1] ?? NaN)];
/** @type {{ name: string, unit: string, least: number[], digits: number, lines: [Letter | "", Value][] }[]} */
const PLOTS = [
  { name: "Speed", unit: "mm/s", least: [-50, 50], digits: 0, lines: [["p", (m) => 1000 * (m.data.p?.speed ?? NaN)]] },
  { name: "Turn", unit: "°/s", least: [-10, 10], digits: 0, lines: [["p", (m) => m.data.p && degrees(m.data.p.turn)]] },
  { name: "Nearest obstacle", unit: "m", least: [0, 1], digits: 2, lines: [["l", near]] },
  { name: "Battery", unit: "V", least: [11, 13], digits: 1, lines: [["", (m) => m.data.m?.volts]] },
  { name: "Age of data", unit: "ms", least: [0, 100], digits: 0, lines: DEVICES.map(({ letter }) => age(letter)) },
];

export class Plots {
  // panel gets the plots. timeline is shown, and moved by clicks.
  /**
   * @param {HTMLElement} panel
   * @param {Timeline} timeline
   */
  constructor(panel, timeline) {
    this.timeline = timeline;
    /** @type {Robot | null} */
    this.robot = null;
    this.open = false;
    const picked = keptList("plots");
    const choice = document.createElement("div");
    choice.className = "choice";
    panel.append(choice);
    this.plots = PLOTS.map((plot) => {
      const figure = document.createElement("figure"), button = document.createElement("button");
      figure.innerHTML = `<figcaption><b></b><output class="number"></output></figcaption><canvas role="img"></canvas>`;
      part(figure, "b").textContent = button.textContent = plot.name;
      const canvas = /** @type {HTMLCanvasElement} */ (figure.querySelector("canvas"));
      canvas.setAttribute("aria-label", `${plot.name} in the last minute, in ${plot.unit}`);
      const scrub = (e) => e.buttons & 1 && this.scrub(canvas, e);
      for (const type of ["pointerdown", "pointermove"]) canvas.addEventListener(type, scrub);
      button.type = "button";
      button.addEventListener("click", () => this.pick(plot.name, figure.hidden));
      choice.append(button);
      panel.append(figure);
      return { ...plot, figure, canvas, button, value: part(figure, "output") };
    });
    for (const { name } of this.plots) this.pick(name, picked ? picked.includes(name) : name !== "Turn");
    setInterval(() => this.open && !document.hidden && this.draw(), PERIOD);
  }

  show(open) { this.open = open; }

  pick(name, on) {
    for (const { figure, button } of this.plots.filter((p) => p.name === name)) {
      figure.hidden = !on;
      button.setAttribute("aria-pressed", String(on));
    }
    keepList("plots", this.plots.filter((p) => !p.figure.hidden).map((p) => p.name));
  }

  scrub(canvas, e) {
    const box = canvas.getBoundingClientRect();
    this.timeline.go(this.timeline.latest() - SPAN * (1 - (e.clientX - box.left) / box.width));
  }

  draw() {
    const { robot } = this, moments = robot ? this.timeline.moments(robot) : [];
    for (const plot of this.plots) {
      const value = (of) => moments.map((m) => ({ at: m.at, v: of(m, robot) })).filter(({ v }) => Number.isFinite(v));
      if (!plot.figure.hidden) this.drawPlot(plot, plot.lines.map(([letter, of]) => ({ letter, points: value(of) })));
    }
  }

  // drawPlot draws lines: the letter of a device, and points {at, v}.
  drawPlot({ canvas, value, unit, least, digits }, series) {
    const { timeline } = this, end = timeline.latest(), colors = palette();
    const { clientWidth: width, clientHeight: height } = canvas, { c, ratio } = sized(canvas);
    const values = series.flatMap(({ points }) => points.map(({ v }) => v));
    const low = values.reduce((a, b) => Math.min(a, b), least[0]);
    const high = values.reduce((a, b) => Math.max(a, b), least[1]);
    const x = (at) => width * (1 - (end - at) / SPAN), y = (v) => 6 + (height - 12) * (1 - (v - low) / (high - low));
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.strokeStyle = colors.grid;
    c.beginPath();
    for (let s = 0; s <= 60; s += 10) c.moveTo(x(end - s * 1000), 0), c.lineTo(x(end - s * 1000), height);
    for (const v of [low, 0, high]) if (v >= low) c.moveTo(0, y(v)), c.lineTo(width, y(v));
    c.stroke();
    for (const { letter, points } of series) {
      c.beginPath();
      points.forEach((p, i) => {
        if (i && p.at - points[i - 1].at < GAP) c.lineTo(x(p.at), y(p.v));
        else c.moveTo(x(p.at), y(p.v));
      });
      stroke(c, colors[COLORS[letter] ?? "dim"], 1.5);
    }
    c.fillStyle = colors.dim;
    c.font = "11px system-ui, sans-serif";
    c.fillText(`${high.toFixed(digits)} ${unit}`, 4, 12);
    c.fillText(`${low.toFixed(digits)} ${unit}`, 4, height - 3);
    c.textAlign = "right";
    c.fillText("last 60 s", width - 4, height - 3);
    c.textAlign = "start";
    if (timeline.past) {
      c.fillStyle = colors.warn;
      c.fillRect(x(timeline.at) - 1, 0, 2, height);
    }
    const now = timeline.past ? timeline.at : end;
    const newest = series.map(({ points }) => points.findLast(({ at }) => at <= now));
    const last = newest.filter((p) => p && now - p.at < GAP);
    value.textContent = last.length ? `${Math.max(...last.map(({ v }) => v)).toFixed(digits)} ${unit}` : "–";
  }
}
