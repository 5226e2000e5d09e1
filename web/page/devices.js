// Camera, gripper and body of the robot that is shown.

import { $ } from "./dom.js";
import * as text from "./text.js";
import { palette } from "./view.js";

/** @import { Context } from "../types" */
/** @import { Driver } from "./drive.js" */
/** @import { Robot } from "./robot.js" */

const WIDTH = 160, HEIGHT = 120; // pixels of the image that ACTS tracks colours in
const LOOK_PERIOD = 80; // ms between the commands of a slider that is moved
const SLIDER_REST = 4000; // ms after which untouched sliders follow the camera again

// CHANNELS are the colours of the simulator's tracker. A real tracker may have
// been trained for others; then the colours only distinguish the channels.
const CHANNELS = [
  ["red", "#e5484d"], ["green", "#46a758"], ["blue", "#3e83f0"], ["yellow", "#e9c46a"], ["orange", "#f0883e"],
  ["purple", "#8e4ec6"], ["cyan", "#22b8cf"], ["magenta", "#d6409f"], ["pink", "#f1a7c4"], ["brown", "#a37764"],
];
const channelColor = (i) => CHANNELS[i]?.[1] ?? `hsl(${(i * 47) % 360} 60% 60%)`;

export class Camera {
  /** @param {Driver} driver */
  constructor(driver) {
    this.driver = driver;
    this.canvas = $("image");
    this.touchedAt = -Infinity; // when a slider was moved
    /** @type {Robot | null} */
    this.robot = null;
    for (const id of ["pan", "tilt", "zoom"]) $(id).addEventListener("input", () => this.look());
    $("ahead").addEventListener("click", () => {
      $("pan").value = $("tilt").value = $("zoom").value = "0";
      this.look();
    });
    new ResizeObserver(() => this.robot && this.update(this.robot)).observe(this.canvas);
  }

  // look sends the positions of the sliders, at most once in LOOK_PERIOD.
  look() {
    this.touchedAt = performance.now();
    this.label();
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // Left is positive on the wire, and left on the dashboard.
      this.driver.send({ look: [-$("pan").value, +$("tilt").value, +$("zoom").value] });
    }, LOOK_PERIOD);
  }

  label() {
    $("pan").setAttribute("aria-valuetext", text.side(-$("pan").value, "left", "right"));
    $("tilt").setAttribute("aria-valuetext", text.side(+$("tilt").value, "up", "down"));
  }

  /** @param {Robot} robot */
  update(robot) {
    const { v: blobs, z: ptz } = robot.data;
    if (robot !== this.robot) this.touchedAt = -Infinity;
    this.robot = robot;
    $("blob-count").textContent = text.blobCount(blobs);
    $("ptz-out").textContent = text.ptz(ptz);
    // The sliders follow the camera, but not while the user moves them.
    const held = document.activeElement?.matches("#pan:active, #tilt:active, #zoom:active");
    if (ptz && performance.now() - this.touchedAt > SLIDER_REST && !held) {
      $("pan").value = String(-ptz.pan);
      $("tilt").value = String(ptz.tilt);
      $("zoom").value = String(ptz.zoom);
      this.label();
    }
    this.draw(blobs);
  }

  draw(blobs) {
    const { canvas } = this, ratio = devicePixelRatio || 1, colors = palette();
    const c = /** @type {Context} */ (canvas.getContext("2d"));
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    c.setTransform(width / WIDTH, 0, 0, height / HEIGHT, 0, 0);
    c.clearRect(0, 0, WIDTH, HEIGHT);
    c.strokeStyle = colors.grid;
    c.lineWidth = 0.5;
    c.beginPath();
    c.moveTo(WIDTH / 2, 0), c.lineTo(WIDTH / 2, HEIGHT), c.moveTo(0, HEIGHT / 2), c.lineTo(WIDTH, HEIGHT / 2);
    c.stroke();
    if (!blobs) return;
    for (const b of blobs) {
      const color = channelColor(b.channel), w = b.right - b.left + 1, h = b.bottom - b.top + 1;
      c.fillStyle = c.strokeStyle = color;
      c.globalAlpha = 0.55;
      c.fillRect(b.left, b.top, w, h);
      c.globalAlpha = 1;
      c.lineWidth = 1;
      c.strokeRect(b.left, b.top, w, h);
      c.beginPath();
      c.strokeStyle = colors.text;
      c.moveTo(b.x - 2.5, b.y + 0.5), c.lineTo(b.x + 3.5, b.y + 0.5);
      c.moveTo(b.x + 0.5, b.y - 2.5), c.lineTo(b.x + 0.5, b.y + 3.5);
      c.stroke();
      c.font = "7px system-ui, sans-serif";
      c.fillStyle = colors.text;
      const label = `${CHANNELS[b.channel]?.[0] ?? `channel ${b.channel}`} ${b.area} px`;
      const left = Math.max(1, Math.min(b.left, WIDTH - 2 - c.measureText(label).width));
      c.fillText(label, left, b.top > 10 ? b.top - 2.5 : Math.min(b.bottom + 8, HEIGHT - 2));
    }
  }
}

export class Gripper {
  /** @param {Driver} driver */
  constructor(driver) {
    $("grip-buttons").addEventListener("click", (e) => {
      const code = Number(/** @type {HTMLElement} */ (e.target).dataset.grip);
      if (code) driver.send({ grip: [code, 0] });
    });
  }

  /** @param {Robot} robot */
  update({ data }) { $("grip-state").textContent = text.gripper(data.g); }
}

export class Body {
  /** @param {Robot} robot */
  update({ data }) {
    const state = text.body(data), volts = data.m?.volts;
    $("bumper-state").textContent = state.text;
    $("bumper-state").classList.toggle("bad", state.alarm);
    $("volts").textContent = volts === undefined ? "–" : `${volts.toFixed(1)} V`;
    $("battery").value = volts ?? 0;
  }
}
