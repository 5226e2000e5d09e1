// The panel of a receiver of satellites: where it is on a plain grid, its way, and how exact it is.

import { circle, fill, polygon, stroke } from "./canvas.js";
import { part } from "./dom.js";
import { placeOf } from "./geometry.js";
import { tracePath } from "./trail.js";
import { View, palette } from "./view.js";
import { rad } from "./wire.js";

/** @import { Context, Gps, Track } from "../types" */

const LEAST_REACH = 3; // metres around the receiver that are shown at least: less shows its noise only
const DEFAULT_REACH = 20; // metres around a receiver whose accuracy is not known
const ACCURACY_SEEN = 3; // how often the accuracy fits into what is shown
const STEPS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]; // metres between lines of the grid
const LINES = 44; // CSS pixels between lines of the grid at least
const MOVES = 0.1; // m/s: the course of a slower receiver means nothing
const ZOOM = 1.5; // of a press of a button

// FIXES are the ways of finding a place (PROTOCOL 7.11), and how good they are: a level of style.css.
/** @type {Record<number, [text: string, level: string]>} */
const FIXES = { 0: ["no fix", "bad"], 1: ["fix", "good"], 2: ["corrected fix", "good"], 3: ["RTK, not settled", "good"], 4: ["RTK fix", "good"], 5: ["estimated", "warn"] };

/** @type {(degrees: number, plus: string, minus: string) => string} */
const angle = (degrees, plus, minus) => `${Math.abs(degrees).toFixed(7)}° ${degrees < 0 ? minus : plus}`;
const within = (metres) => (metres < 1 ? `${(metres * 100).toFixed(0)} cm` : `${metres.toFixed(1)} m`);

/** @param {Gps | undefined} gps */
export const placed = (gps) => Boolean(gps && gps.fix > 0 && !Number.isNaN(gps.latitude + gps.longitude));

// fixOf writes how a place was found, and its level.
/** @type {(gps: Gps | undefined) => [text: string, level: string]} */
export function fixOf(gps) {
  if (!gps) return ["", ""];
  const [fix, level] = FIXES[gps.fix] ?? ["fix unknown", ""];
  return [Number.isNaN(gps.satellites) ? fix : `${fix} · ${gps.satellites} satellites`, level];
}

// rowsOf writes what a receiver measures: names and texts.
/** @type {(gps: Gps | undefined) => [name: string, text: string][]} */
export function rowsOf(gps) {
  const here = gps && placed(gps);
  const accuracy = (metres) => (Number.isNaN(metres) ? "" : ` ± ${within(metres)}`);
  return [
    ["Latitude", here ? angle(gps.latitude, "N", "S") : "–"],
    ["Longitude", here ? angle(gps.longitude, "E", "W") : "–"],
    ["Accuracy", gps && !Number.isNaN(gps.horizontal) ? `± ${within(gps.horizontal)}` : "not known"],
    ["Height", gps && !Number.isNaN(gps.height) ? `${gps.height.toFixed(1)} m${accuracy(gps.vertical)}` : "–"],
    ["Speed", gps && !Number.isNaN(gps.speed) ? `${gps.speed.toFixed(2)} m/s${gps.speed > MOVES && !Number.isNaN(gps.course) ? `, ${gps.course.toFixed(0)}°` : ""}` : "–"],
  ];
}

// reachOf returns how far from the receiver the map reaches: to its whole way and its accuracy.
/** @type {(gps: Gps | undefined, track: Track | undefined) => number} */
export function reachOf(gps, track) {
  if (!gps || !track || !placed(gps)) return DEFAULT_REACH;
  const at = placeOf(gps, track);
  const way = track.points.reduce((far, p) => Math.max(far, Math.hypot(p.x - at.x, p.y - at.y)), 0);
  return Math.max(LEAST_REACH, way * 1.15, Number.isNaN(gps.horizontal) ? DEFAULT_REACH : gps.horizontal * ACCURACY_SEEN);
}

export class GpsPanel {
  /**
   * @param {HTMLElement} body
   * @param {HTMLElement} state gets how the place was found
   */
  constructor(body, state) {
    body.innerHTML = `<div class="map"><canvas role="img"></canvas><div class="corner" role="group" aria-label="Map">
      <button type="button" class="quiet in" aria-label="Zoom in">+</button><button type="button" class="quiet out" aria-label="Zoom out">−</button>
      <button type="button" class="quiet fit" title="Show the whole way">Fit</button></div></div>
      <dl class="number facts">${rowsOf(undefined).map(([name]) => `<dt>${name}</dt><dd></dd>`).join("")}</dl>`;
    this.state = state;
    this.facts = rowsOf(undefined).map((_, i) => part(body, `dd:nth-of-type(${i + 1})`));
    /** @type {Gps | undefined} */
    this.gps = undefined;
    /** @type {Track | undefined} */
    this.track = undefined;
    this.canvas = /** @type {HTMLCanvasElement} */ (part(body, "canvas"));
    this.view = new View(this.canvas, { pan: false, draw: (c) => this.draw(c) });
    this.view.onResize = () => this.view.touched || this.fit();
    for (const [name, factor] of /** @type {[string, number][]} */ ([[".in", ZOOM], [".out", 1 / ZOOM]])) {
      part(body, name).addEventListener("click", () => this.view.scaleBy(factor));
    }
    part(body, ".fit").addEventListener("click", () => this.fit());
  }

  /** @type {(gps: Gps | undefined, track: Track | undefined) => void} */
  update(gps, track) {
    this.gps = gps;
    this.track = track;
    const [text, level] = fixOf(gps), rows = rowsOf(gps);
    this.state.textContent = text;
    this.state.dataset.level = level;
    this.facts.forEach((fact, i) => (fact.textContent = rows[i][1]));
    this.canvas.setAttribute("aria-label", `Map: ${text}, accuracy ${rows[2][1]}`);
    if (!this.view.touched) this.fit();
    this.view.changed();
  }

  fit() {
    const far = reachOf(this.gps, this.track);
    this.view.fit({ left: -far, right: far, bottom: -far, top: far }, 6);
  }

  // draw draws with the receiver in the middle and north up.
  /** @param {Context} c */
  draw(c) {
    const { view, gps, track } = this, colors = palette(), pixel = view.pixel;
    const at = gps && track && placed(gps) ? placeOf(gps, track) : track?.points.at(-1) ?? { x: 0, y: 0 };
    const width = (view.width / 2) * pixel, height = (view.height / 2) * pixel;
    const step = STEPS.find((s) => s / pixel > LINES) ?? STEPS[STEPS.length - 1];
    c.beginPath();
    for (let x = Math.ceil((at.x - width) / step) * step; x <= at.x + width; x += step) c.moveTo(x - at.x, -height), c.lineTo(x - at.x, height);
    for (let y = Math.ceil((at.y - height) / step) * step; y <= at.y + height; y += step) c.moveTo(-width, y - at.y), c.lineTo(width, y - at.y);
    stroke(c, colors.grid, pixel);
    if (track) {
      c.save();
      c.translate(-at.x, -at.y);
      tracePath(c, track.points);
      stroke(c, colors.trail, 2 * pixel);
      circle(c, 0, 0, 3 * pixel); // where it was first
      fill(c, colors.panel);
      stroke(c, colors.trail, 1.5 * pixel);
      c.restore();
    }
    const good = placed(gps);
    if (gps && good && gps.horizontal > 0) {
      circle(c, 0, 0, gps.horizontal);
      fill(c, colors["laser-area"]);
      stroke(c, colors.accent, pixel);
    }
    if (gps && good && gps.speed > MOVES && !Number.isNaN(gps.course)) {
      c.save();
      c.rotate(-rad(gps.course));
      polygon(c, 0, 20 * pixel, -5 * pixel, 9 * pixel, 5 * pixel, 9 * pixel);
      fill(c, colors.accent);
      c.restore();
    }
    if (track) {
      circle(c, 0, 0, 6 * pixel);
      fill(c, good ? colors.accent : colors.dim);
      stroke(c, colors.panel, 2 * pixel);
    }
    this.drawScale(c, step, colors);
  }

  // drawScale draws how long a step of the grid is, and where north is.
  drawScale(c, step, colors) {
    const { view } = this, length = step / view.pixel;
    c.save();
    c.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    c.fillStyle = colors.dim;
    c.font = "11px system-ui, sans-serif";
    c.beginPath();
    c.moveTo(10, view.height - 14), c.lineTo(10, view.height - 10), c.lineTo(10 + length, view.height - 10), c.lineTo(10 + length, view.height - 14);
    stroke(c, colors.dim, 1.5);
    c.fillText(step < 1000 ? `${step} m` : `${step / 1000} km`, 14, view.height - 15);
    polygon(c, 14, 8, 10, 18, 14, 15.5, 18, 18);
    fill(c, colors.dim);
    c.fillText("N", 22, 17);
    c.restore();
  }
}
