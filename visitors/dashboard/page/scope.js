// The robot's own view: the data of its sensors around it, and its path by odometry.

import { stroke } from "./canvas.js";
import { preview, reach, within } from "./geometry.js";
import { ranging } from "./others.js";
import { drawRobot, drawSensors } from "./sensors.js";
import { tracePath } from "./trail.js";
import { View, palette } from "./view.js";

const DEFAULT_REACH = 4; // metres shown around a robot that senses nothing
const LEAST_REACH = 1.5; // metres shown at least: the robot and things it could bump into
const NEAR = 0.8; // part of the readings that Fit shows
const BEHIND = 0.5; // metres shown behind the robot for each metre ahead: the laser looks ahead
const PREVIEW = 1; // seconds that the drawn path reaches ahead

/** @import { Context, Palette, Point, Position, TrailPoint } from "../types" */
/** @import { Robot } from "./robot.js" */

export class Scope {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.headingUp = true;
    this.fitted = false; // to the first scan
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {(point: Point) => boolean} */
    this.press = () => false; // takes a place in the robot's frame
    this.view = new View(canvas, { pan: false, draw: (c) => this.draw(c), grab: (point) => this.grab(point) });
    this.view.onResize = () => this.view.touched || this.fit();
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.robot = robot;
    this.fitted = false;
    this.view.touched = false;
    this.fit();
  }

  // update redraws; the first scan determines how much is shown.
  update() {
    if (!this.fitted && this.robot && (this.robot.data.l || this.robot.data.s || ranging(this.robot).length)) {
      this.fitted = true;
      if (!this.view.touched) this.fit();
    }
    this.view.changed();
  }

  // fit shows most of the readings of the robot now.
  fit() {
    const far = Math.max(LEAST_REACH, reach(this.robot?.obstacles() ?? [], NEAR) ?? DEFAULT_REACH);
    this.view.fit({ left: -far, right: far, bottom: this.headingUp ? -far * BEHIND : -far, top: far }, 8);
  }

  // angle is how far the robot's frame is turned on the screen, radians.
  angle() { return this.headingUp ? Math.PI / 2 : (this.robot?.data.p?.heading ?? 0); }

  /** @type {(point: Point) => null} */
  grab(point) {
    this.press(within({ x: 0, y: 0, heading: this.angle() }, this.view.toFloor(point)));
    return null;
  }

  /** @param {Context} c */
  draw(c) {
    const { view, robot } = this, colors = palette(), pixel = view.pixel;
    this.drawRings(c, colors, pixel);
    if (!robot) return;
    const position = robot.data.p;
    c.save();
    c.rotate(this.angle());
    drawSensors(c, robot, colors, pixel);
    if (position) {
      this.drawTrail(c, robot.trail, position, colors, pixel);
      drawPreview(c, position, colors, pixel);
    }
    drawRobot(c, robot, colors, pixel);
    c.restore();
  }

  drawRings(c, colors, pixel) {
    const far = Math.hypot(this.view.width, this.view.height) * pixel;
    const step = [0.25, 0.5, 1, 2, 5, 10].find((s) => s / pixel > 44) ?? 20;
    c.beginPath();
    for (const [x, y] of [[1, 0], [0, 1]]) {
      c.moveTo(-x * far, -y * far);
      c.lineTo(x * far, y * far);
    }
    for (let r = step; r < far; r += step) {
      c.moveTo(r, 0);
      c.arc(0, 0, r, 0, 2 * Math.PI);
    }
    stroke(c, colors.grid, pixel);
    c.fillStyle = colors.dim;
    c.font = "11px system-ui, sans-serif";
    for (let r = step; r < far; r += step) {
      this.view.text(`${r} m`, { x: r * Math.SQRT1_2, y: -r * Math.SQRT1_2 }, 3, 10);
    }
  }

  // drawTrail draws in the robot's frame; the trail is in the frame of the odometry.
  /** @type {(c: Context, trail: TrailPoint[], position: Position, colors: Palette, pixel: number) => void} */
  drawTrail(c, trail, { x, y, heading }, colors, pixel) {
    c.save();
    c.rotate(-heading);
    c.translate(-x, -y);
    tracePath(c, trail);
    stroke(c, colors.trail, 2 * pixel);
    c.restore();
  }
}

// drawPreview draws where the present speed leads.
/** @type {(c: Context, position: Position, colors: Palette, pixel: number) => void} */
function drawPreview(c, position, colors, pixel) {
  c.beginPath();
  for (const { x, y } of preview(position, PREVIEW)) c.lineTo(x, y);
  stroke(c, colors.accent, 3 * pixel);
}
