// The robot's own view: what it senses around it, and where it thinks it has
// been.

import { drawRobot, drawSensors } from "./sensors.js";
import { View, palette } from "./view.js";

const DEFAULT_REACH = 4; // metres about the robot before anything is known
const NEAR = 0.8; // of the readings that are to be in sight
const BEHIND = 0.5; // of the room ahead, where the laser looks
const PREVIEW = 1; // seconds that the present speed is drawn ahead

export class Scope {
  constructor(canvas) {
    this.headingUp = true;
    this.view = new View(canvas, { pan: false, draw: (c) => this.draw(c) });
    this.view.onResize = () => this.view.touched || this.fit();
  }

  show(robot) {
    this.robot = robot;
    this.fitted = false;
    this.view.touched = false;
    this.fit();
  }

  // update draws anew; the first scan decides how much is shown.
  update() {
    if (!this.fitted && this.robot && (this.robot.data.l || this.robot.data.s)) {
      this.fitted = true;
      if (!this.view.touched) this.fit();
    }
    this.view.changed();
  }

  // fit shows most of what the robot senses now.
  fit() {
    const ranges = (this.robot?.seen() ?? []).map(({ x, y }) => Math.hypot(x, y)).sort((a, b) => a - b);
    const reach = Math.max(1.5, ranges[Math.floor(ranges.length * NEAR)] ?? DEFAULT_REACH);
    this.view.fit({ left: -reach, right: reach, bottom: this.headingUp ? -reach * BEHIND : -reach, top: reach }, 8);
  }

  // angle turns the robot's frame to what is up.
  angle() { return this.headingUp ? Math.PI / 2 : (this.robot?.data.p?.heading ?? 0); }

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
    c.strokeStyle = colors.grid;
    c.lineWidth = pixel;
    c.beginPath();
    for (const [x, y] of [[1, 0], [0, 1]]) {
      c.moveTo(-x * far, -y * far);
      c.lineTo(x * far, y * far);
    }
    for (let r = step; r < far; r += step) {
      c.moveTo(r, 0);
      c.arc(0, 0, r, 0, 2 * Math.PI);
    }
    c.stroke();
    c.fillStyle = colors.dim;
    c.font = "11px system-ui, sans-serif";
    for (let r = step; r < far; r += step) this.view.text(`${r} m`, { x: r * Math.SQRT1_2, y: -r * Math.SQRT1_2 }, 3, 10);
  }

  // drawTrail draws in the robot's frame what is known in the odometry's.
  drawTrail(c, trail, { x, y, heading }, colors, pixel) {
    c.save();
    c.rotate(-heading);
    c.translate(-x, -y);
    drawPath(c, trail);
    c.strokeStyle = colors.trail;
    c.lineWidth = 2 * pixel;
    c.stroke();
    c.restore();
  }
}

export function drawPath(c, trail) {
  c.beginPath();
  for (const p of trail) p.jump ? c.moveTo(p.x, p.y) : c.lineTo(p.x, p.y);
}

// drawPreview draws where the present speed leads.
function drawPreview(c, { speed, turn }, colors, pixel) {
  if (Math.abs(speed) < 0.005 && Math.abs(turn) < 0.02) return;
  c.beginPath();
  let x = 0, y = 0, heading = 0;
  const steps = 20, dt = PREVIEW / steps;
  c.moveTo(0, 0);
  for (let i = 0; i < steps; i++) {
    x += speed * dt * Math.cos(heading);
    y += speed * dt * Math.sin(heading);
    heading += turn * dt;
    c.lineTo(x, y);
  }
  c.strokeStyle = colors.accent;
  c.lineWidth = 3 * pixel;
  c.stroke();
}
