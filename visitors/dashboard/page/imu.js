// The panel of an inertial measurement unit: horizon, heading, rates and accelerations.

import { circle, fill, polygon, sized, stroke } from "./canvas.js";
import { part } from "./dom.js";
import { palette } from "./view.js";
import { rad } from "./wire.js";

/** @import { Context, Imu, Palette } from "../types" */

const PITCH_SEEN = 45; // degrees of pitch from the middle of the horizon to its edge
const FULL_RATE = 90, FULL_ACCELERATION = 5; // °/s and m/s² of a bar that is full; slower turns and bumps are also seen
const GRAVITY = 9.81;
const AXES = [["Roll", "left side up", "right side up"], ["Pitch", "front down", "front up"], ["Yaw", "to the left", "to the right"]];
const FORCES = [["Ahead", "ahead", "back"], ["Left", "to the left", "to the right"], ["Up", "up", "down"]];

const fixed = (value, digits, unit) => (Number.isNaN(value) ? "–" : `${value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1")}${unit}`);

// described writes what an imu measures for those who do not see its picture.
/** @param {Imu | undefined} imu */
export function described(imu) {
  if (!imu) return "No data yet";
  const words = AXES.map(([name, plus, minus], i) => {
    const v = imu.angles[i];
    return Number.isNaN(v) ? `${name.toLowerCase()} not measured` : `${name.toLowerCase()} ${Math.abs(Math.round(v))} degrees${Math.round(v) ? ` ${v > 0 ? plus : minus}` : ""}`;
  });
  return words.join(", ");
}

export class ImuPanel {
  /** @param {HTMLElement} body */
  constructor(body) {
    /** @param {string[]} axis */
    const row = ([name]) => `<tr><th scope="row">${name}</th><td></td><td></td><td aria-hidden="true"><span class="level"><i></i></span></td></tr>`;
    body.innerHTML = `<canvas class="dials" role="img"></canvas>
      <table class="number measures"><thead><tr><td></td><th scope="col">angle</th><th scope="col">rate</th><td aria-hidden="true"></td></tr></thead><tbody class="turns">${AXES.map(row).join("")}</tbody>
      <thead><tr><td></td><th scope="col" colspan="2">acceleration</th><td aria-hidden="true"></td></tr></thead>
      <tbody class="forces">${FORCES.map(([name]) => `<tr><th scope="row">${name}</th><td colspan="2"></td><td aria-hidden="true"><span class="level"><i></i></span></td></tr>`).join("")}</tbody></table>`;
    this.canvas = /** @type {HTMLCanvasElement} */ (part(body, "canvas"));
    this.rows = ["turns", "forces"].map((name) => AXES.map((_, i) => {
      const at = `.${name} tr:nth-child(${i + 1})`;
      return { first: part(body, `${at} td`), second: part(body, `${at} td:nth-child(3)`), bar: part(body, `${at} i`) };
    }));
    /** @type {Imu | undefined} */
    this.imu = undefined;
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** @param {Imu | undefined} imu */
  update(imu) {
    this.imu = imu;
    const nothing = [NaN, NaN, NaN], { angles, rates, accelerations } = imu ?? { angles: nothing, rates: nothing, accelerations: nothing };
    this.rows[0].forEach(({ first, second, bar }, i) => {
      first.textContent = fixed(angles[i], 1, "°");
      second.textContent = fixed(rates[i], 1, " °/s");
      setBar(bar, rates[i] / FULL_RATE);
    });
    this.rows[1].forEach(({ first, bar }, i) => {
      first.textContent = fixed(accelerations[i], 2, " m/s²");
      setBar(bar, (accelerations[i] - (i === 2 ? GRAVITY : 0)) / FULL_ACCELERATION);
    });
    this.canvas.setAttribute("aria-label", described(imu));
    this.draw();
  }

  draw() {
    const { c, ratio } = sized(this.canvas), { clientWidth: width, clientHeight: height } = this.canvas, colors = palette();
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const radius = Math.min(height / 2, width / 4) - 6;
    if (radius <= 0) return;
    const [roll, pitch, yaw] = this.imu?.angles ?? [NaN, NaN, NaN];
    inCircle(c, width / 4, height / 2, () => drawHorizon(c, radius, roll, pitch, colors));
    inCircle(c, (3 * width) / 4, height / 2, () => drawHeading(c, radius, yaw, colors));
  }
}

// setBar shows a value from -1 to 1 from the middle of a bar.
function setBar(bar, value) {
  const part = Number.isNaN(value) ? 0 : Math.max(-1, Math.min(1, value));
  Object.assign(bar.style, { left: `${50 + Math.min(0, part) * 50}%`, width: `${Math.abs(part) * 50}%` });
}

function inCircle(c, x, y, draw) {
  c.save();
  c.translate(x, y);
  draw();
  c.restore();
}

function missing(c, colors) {
  c.fillStyle = colors.dim;
  c.font = "12px system-ui, sans-serif";
  c.textAlign = "center";
  c.fillText("not measured", 0, 4);
}

// drawHorizon draws what is ahead of a robot: the horizon is lower while the front is up, and turns
// the other way than the robot rolls.
/** @type {(c: Context, radius: number, roll: number, pitch: number, colors: Palette) => void} */
function drawHorizon(c, radius, roll, pitch, colors) {
  circle(c, 0, 0, radius);
  if (Number.isNaN(roll + pitch)) {
    fill(c, colors.sunk);
    stroke(c, colors.line, 1);
    return missing(c, colors);
  }
  c.save();
  c.clip();
  c.rotate(rad(-roll));
  const degree = radius / PITCH_SEEN, level = Math.max(-PITCH_SEEN, Math.min(PITCH_SEEN, -pitch)) * degree; // y is down
  c.fillStyle = colors.sky;
  c.fillRect(-radius, -radius, 2 * radius, radius + level);
  c.fillStyle = colors.earth;
  c.fillRect(-radius, level, 2 * radius, 2 * radius);
  c.beginPath();
  c.moveTo(-radius, level), c.lineTo(radius, level);
  stroke(c, colors["robot-line"], 1.5);
  c.beginPath();
  for (let deg = -40; deg <= 40; deg += 10) {
    const half = deg % 20 ? 0.12 : 0.24;
    if (deg) c.moveTo(-half * radius, level + deg * degree), c.lineTo(half * radius, level + deg * degree);
  }
  c.globalAlpha = 0.55;
  stroke(c, colors["robot-line"], 1);
  c.globalAlpha = 1;
  polygon(c, 0, -radius + 2, -5, -radius + 11, 5, -radius + 11); // the middle of the sky, at the edge
  fill(c, colors["robot-line"]);
  c.restore();
  circle(c, 0, 0, radius);
  stroke(c, colors.line, 1);
  c.beginPath(); // the robot
  c.moveTo(-0.55 * radius, 0), c.lineTo(-0.2 * radius, 0), c.lineTo(-0.1 * radius, 0.1 * radius);
  c.moveTo(0.55 * radius, 0), c.lineTo(0.2 * radius, 0), c.lineTo(0.1 * radius, 0.1 * radius);
  c.lineJoin = c.lineCap = "round";
  stroke(c, colors.accent, 3);
  circle(c, 0, 0, 2.5);
  fill(c, colors.accent);
}

// drawHeading draws where a robot has turned to since its yaw was zero, which points up.
/** @type {(c: Context, radius: number, yaw: number, colors: Palette) => void} */
function drawHeading(c, radius, yaw, colors) {
  circle(c, 0, 0, radius);
  fill(c, colors.sunk);
  stroke(c, colors.line, 1);
  c.fillStyle = colors.dim;
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const [deg, label] of /** @type {[number, string][]} */ ([[0, "0°"], [90, "90°"], [180, "180°"], [-90, "−90°"]])) {
    c.fillText(label, -Math.sin(rad(deg)) * (radius - 20), -Math.cos(rad(deg)) * (radius - 12));
  }
  c.textBaseline = "alphabetic";
  c.beginPath();
  for (let deg = 0; deg < 360; deg += 30) {
    const x = -Math.sin(rad(deg)), y = -Math.cos(rad(deg)), inner = radius - (deg % 90 ? 5 : 3);
    c.moveTo(x * inner, y * inner), c.lineTo(x * radius, y * radius);
  }
  stroke(c, colors.dim, 1);
  if (Number.isNaN(yaw)) return missing(c, colors);
  c.rotate(rad(-yaw));
  const r = radius * 0.58;
  polygon(c, 0, -r, 0.5 * r, 0.75 * r, 0, 0.4 * r, -0.5 * r, 0.75 * r);
  fill(c, colors.accent);
}
