// The readings of a robot's sensors, and the robot itself, drawn in its own frame: x ahead, y
// to the left, metres. pixel is the length of a CSS pixel in metres.

import { circle, fill, inFrame, outline, polygon, sector, stroke } from "./canvas.js";
import { laserPoints, rayEcho, rayMount, raysPoints, sameSurface, within } from "./geometry.js";
import { ranging, senses } from "./others.js";
import { BUMPERS, CENTRE, fieldOfView } from "./pioneer.js";
import { SONAR_FAR, rad } from "./wire.js";

/** @import { Context, Data, Goal, Mounts, Other, Palette, Placement, Point, Ranges, Rays, Vec } from "../types" */
/** @typedef {{ data: Data, mounts: Mounts, shape: Vec[][], others?: Other[] }} Drawn a robot, now or in the past */

/** @type {(c: Context, robot: Drawn, colors: Palette, pixel: number) => void} */
export function drawSensors(c, robot, colors, pixel) {
  const { z: ptz, s: sonar, l: laser } = robot.data;
  if (ptz) drawCamera(c, robot.mounts.Camera, ptz, colors, pixel);
  if (sonar) drawSonar(c, robot.mounts, sonar, colors, pixel);
  for (const other of ranging(robot)) {
    drawRanges(c, other.rays, robot.data[other.name], colors, colorOf(robot.others ?? [], other), pixel);
  }
  if (laser) drawLaser(c, robot.mounts.Laser, laser, colors, pixel);
  for (const { name, interface: kind } of robot.others ?? []) {
    if (kind === "goto") drawGoal(c, robot.data.p, robot.data[name], colors, pixel);
  }
}

// drawGoal draws the goal of a goto device, and a line to it while the robot drives there.
/** @type {(c: Context, position: Data["p"], goal: Goal | undefined, colors: Palette, pixel: number) => void} */
function drawGoal(c, position, goal, colors, pixel) {
  if (!position || !goal?.state) return;
  const { x, y } = within(position, goal), color = { 1: colors.accent, 3: colors.bad }[goal.state];
  circle(c, x, y, 7 * pixel);
  if (color) c.moveTo(x, y), c.lineTo(0, 0);
  c.setLineDash([3 * pixel, 3 * pixel]);
  stroke(c, color ?? colors.dim, 2 * pixel);
  c.setLineDash([]);
}

const COLORS = 5; // --range0 to --range4 of style.css
const WIDE = 10; // degrees between the readings of a sensor, which are not joined to an area

// colorOf returns the name of the colour of a range sensor without a letter.
/** @type {(others: Other[], other: Other) => string} */
export const colorOf = (others, other) => `range${others.filter(senses).indexOf(other) % COLORS}`;

/** @type {(c: Context, rays: Rays[], ranges: Ranges, colors: Palette, color: string, pixel: number) => void} */
function drawRanges(c, rays, ranges, colors, color, pixel) {
  for (const part of rays) {
    const single = part.count === 1 || Math.abs(part.step_deg) > WIDE || part.cone_deg > Math.abs(part.step_deg);
    if (single) for (let i = 0; i < part.count; i++) drawReading(c, part, i, ranges[part.first + i], colors, color, pixel);
    else drawPoints(c, rayMount(part, 0), raysPoints([part], ranges), colors, color, pixel);
  }
}

// drawReading draws a reading of its own: a cone, or a line.
/** @type {(c: Context, rays: Rays, i: number, range: number, colors: Palette, color: string, pixel: number) => void} */
function drawReading(c, rays, i, range, colors, color, pixel) {
  const echo = rayEcho(rays, range), reach = Math.min(range, (rays.far_mm || 0) / 1000 || (echo ? range : 0));
  if (!(reach > 0)) return;
  const half = rad(rays.cone_deg) / 2;
  mounted(c, rayMount(rays, i), () => {
    if (half > 0) sector(c, reach, half);
    else c.beginPath(), c.moveTo(0, 0), c.lineTo(reach, 0);
    c.globalAlpha = echo ? 1 : 0.4;
    if (half > 0) fill(c, colors[`${color}-area`]);
    else c.setLineDash(echo ? [] : [3 * pixel, 3 * pixel]), stroke(c, colors[color], pixel);
    c.setLineDash([]);
    if (!echo) return;
    c.beginPath();
    if (half > 0) c.arc(0, 0, reach, -half, half);
    else c.moveTo(reach, -4 * pixel), c.lineTo(reach, 4 * pixel);
    stroke(c, colors[color], 2 * pixel);
  });
}

// drawPoints draws the area that a scanner sees, and the surfaces around it.
/** @type {(c: Context, from: Placement, points: (Point & { echo: boolean })[], colors: Palette, color: string, pixel: number) => void} */
function drawPoints(c, from, points, colors, color, pixel) {
  c.beginPath();
  c.moveTo(from.X, from.Y);
  for (const p of points) c.lineTo(p.x, p.y);
  c.closePath();
  fill(c, colors[`${color}-area`]);
  // Lines along surfaces, and dots for single points.
  c.beginPath();
  points.forEach((p, i) => {
    const last = points[i - 1];
    if (!p.echo) return;
    const begin = sameSurface(last, p) ? last : p;
    c.moveTo(begin.x, begin.y);
    c.lineTo(p.x, p.y);
  });
  stroke(c, colors[color], 2 * pixel);
}

const mounted = (c, { X, Y, Heading }, draw) => inFrame(c, { x: X, y: Y, heading: Heading }, draw);

/** @type {(c: Context, mount: Mounts["Laser"], scan: Float32Array, colors: Palette, pixel: number) => void} */
function drawLaser(c, mount, scan, colors, pixel) {
  mounted(c, mount, () => drawPoints(c, { X: 0, Y: 0, Heading: 0 }, laserPoints(scan), colors, "laser", pixel));
}

/** @type {(c: Context, mounts: Mounts, ranges: Float32Array, colors: Palette, pixel: number) => void} */
function drawSonar(c, mounts, ranges, colors, pixel) {
  const half = mounts.SonarFOV / 2;
  mounts.Sonars.forEach((mount, i) => {
    const range = ranges[i];
    if (!(range > 0)) return;
    mounted(c, mount, () => {
      sector(c, range, half);
      fill(c, range < SONAR_FAR ? colors["sonar-area"] : colors["sonar-none"]);
      if (range >= SONAR_FAR) return;
      c.beginPath();
      c.arc(0, 0, range, -half, half);
      stroke(c, colors.sonar, 2 * pixel);
    });
  });
}

function drawCamera(c, mount, ptz, colors, pixel) {
  const half = fieldOfView(ptz.zoom) / 2, length = 1.1;
  mounted(c, mount, () => {
    c.rotate(rad(ptz.pan));
    sector(c, length, half);
    fill(c, colors["camera-area"]);
    c.setLineDash([3 * pixel, 3 * pixel]);
    stroke(c, colors.camera, pixel);
  });
}

// drawRobot draws the robot from above, with the state of its gripper and
// bumpers.
/** @type {(c: Context, robot: Drawn, colors: Palette, pixel: number) => void} */
export function drawRobot(c, robot, colors, pixel) {
  const { p: position, m: body, g: gripper } = robot.data;
  if (gripper) drawGripper(c, gripper, colors, pixel);
  for (const points of robot.shape) {
    outline(c, points);
    fill(c, position?.stall ? colors["robot-stalled"] : colors.robot);
    stroke(c, colors["robot-line"], 1.5 * pixel);
  }
  polygon(c, -0.03, 0, -0.16, 0.07, -0.16, -0.07);
  fill(c, colors["robot-line"]);
  if (body) {
    drawBumpers(c, BUMPERS.front, body.front, colors, pixel);
    drawBumpers(c, BUMPERS.rear, body.rear, colors, pixel);
  }
}

function drawBumpers(c, directions, bits, colors, pixel) {
  directions.forEach((direction, i) => {
    const pressed = (bits >> i) & 1, half = i === 2 ? 0.13 : i === 1 || i === 3 ? 0.15 : 0.3;
    c.beginPath();
    c.arc(CENTRE.X, CENTRE.Y, 0.275, direction - half, direction + half);
    c.lineCap = "butt";
    stroke(c, pressed ? colors.bad : colors.bumper, Math.max(pressed ? 0.045 : 0.02, 1.5 * pixel));
  });
  c.lineCap = "round";
}

function drawGripper(c, { state }, colors, pixel) {
  const apart = state & 2 ? 0.02 : state & 1 ? 0.107 : 0.065;
  for (const side of [-1, 1]) {
    c.beginPath();
    c.moveTo(0.18, side * apart);
    c.lineTo(0.29, side * apart);
    stroke(c, colors["robot-line"], Math.max(0.02, 1.5 * pixel));
  }
}
