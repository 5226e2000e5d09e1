// Where sensor readings and speeds are on the floor, in metres. Mounts are poses
// {X, Y, Heading} in the robot's frame.

import { NO_ECHO, SONAR_FAR, rad } from "./wire.js";

/** @import { Data, Lens, Mounts, Placement, Point, Pose, Position, Ranges, Rays } from "../types" */

const HALF_DEGREE = Math.PI / 360;
const SURFACE_GAP = 0.25; // metres: neighbouring readings farther apart are on different surfaces
const LENS_NEAR = 0.02; // metres: nothing is seen nearer to a lens
const PREVIEW_STEPS = 20; // points of a preview; more would not look smoother

// degrees converts from radians.
export const degrees = (radians) => (radians * 180) / Math.PI;

// laserPoints returns a point for each of the 361 readings of a scan, in the
// laser's frame. echo reports whether something was in reach.
/** @param {Float32Array | number[]} scan */
export function laserPoints(scan) {
  return Array.from(scan, (r, i) => {
    const angle = (i - 180) * HALF_DEGREE;
    return { x: r * Math.cos(angle), y: r * Math.sin(angle), echo: r > 0 && r < NO_ECHO };
  });
}

// rayMount returns the place of a reading of rays, which looks along its heading.
/** @type {(rays: Rays, i: number) => Placement} */
export const rayMount = ({ x_mm, y_mm, heading_deg, step_deg }, i) => {
  return { X: x_mm / 1000, Y: y_mm / 1000, Heading: rad(heading_deg + i * step_deg) };
};

// rayEcho reports whether a reading of rays has seen something. Sonars report their largest distance
// when they have not.
/** @type {(rays: Rays, range: number) => boolean} */
export const rayEcho = ({ far_mm, cone_deg }, range) => {
  return range > 0 && range < Infinity && !(cone_deg > 0 && far_mm > 0 && range >= far_mm / 1000);
};

// raysPoints returns a point for each reading that rays describe, in the robot's frame, and whether
// something is there. Where nothing is in range, the point is as far away as the reading reaches. It is
// the sensor itself if the reading was not taken, or how far it reaches is not known.
/** @type {(rays: Rays[], ranges: Ranges) => (Point & { echo: boolean })[]} */
export function raysPoints(rays, ranges) {
  const points = [];
  for (const part of rays) {
    for (let i = 0; i < part.count && part.first + i < ranges.length; i++) {
      const range = ranges[part.first + i], echo = rayEcho(part, range);
      const x = range >= 0 ? Math.min(range, part.far_mm ? part.far_mm / 1000 : echo ? range : 0) : 0;
      points.push({ ...place(rayMount(part, i), { x, y: 0 }), echo });
    }
  }
  return points;
}

const EARTH = 6371008.8; // metres: the mean radius of the Earth

// placeOf returns where a place on the Earth is, in metres east (x) and north (y) of an origin. It is
// exact to a thousandth within 50 km.
/** @type {(place: { latitude: number, longitude: number }, origin: { latitude: number, longitude: number }) => Point} */
export function placeOf({ latitude, longitude }, origin) {
  const turn = ((longitude - origin.longitude + 540) % 360) - 180; // the shorter way around the Earth
  return { x: rad(turn) * EARTH * Math.cos(rad(origin.latitude)), y: rad(latitude - origin.latitude) * EARTH };
}

// sameSurface reports whether two neighbouring points of a scan are on one
// surface. last may be undefined.
/** @type {<P extends Point & { echo: boolean }>(last: P | undefined, p: P) => last is P} */
export const sameSurface = (last, p) => {
  return last !== undefined && last.echo && p.echo && Math.hypot(p.x - last.x, p.y - last.y) < SURFACE_GAP;
};

// place converts a point from a mount's frame to the robot's.
const place = ({ X, Y, Heading }, { x, y }) => ({
  x: X + x * Math.cos(Heading) - y * Math.sin(Heading),
  y: Y + x * Math.sin(Heading) + y * Math.cos(Heading),
});

// within converts a point to the frame of a pose, outside one from that frame.
/** @type {(pose: Pose, point: Point) => Point} */
export const within = ({ x, y, heading }, p) => place({ X: 0, Y: 0, Heading: -heading }, { x: p.x - x, y: p.y - y });
/** @type {(pose: Pose, point: Point) => Point} */
export const outside = ({ x, y, heading }, p) => place({ X: x, Y: y, Heading: heading }, p);

// obstacles returns the points that laser and sonar detect, in the robot's
// frame.
/** @type {(data: Data, mounts: Mounts) => Point[]} */
export function obstacles({ l: laser = new Float32Array(), s: sonar = new Float32Array() }, mounts) {
  const points = laserPoints(laser).filter((p) => p.echo).map((p) => place(mounts.Laser, p));
  sonar.forEach((r, i) => {
    if (r > 0 && r < SONAR_FAR && mounts.Sonars[i]) points.push(place(mounts.Sonars[i], { x: r, y: 0 }));
  });
  return points;
}

// lensOf returns where a lens is, from the server's text about a picture: the degrees from
// its left to its right, how many mm the lens is above the laser, and, unless it is on the
// head at mount, its place in mm, and its heading and tilt in degrees.
/** @type {(view: number[], mount: Placement, ptz?: Data["z"]) => Lens} */
export function lensOf([fov, z, x, y, heading, tilt], mount, ptz) {
  const lens = { fov: rad(fov), above: z / 1000 };
  if (x !== undefined) return { ...lens, X: x / 1000, Y: y / 1000, Heading: rad(heading), tilt: rad(tilt) };
  return { ...lens, X: mount.X, Y: mount.Y, Heading: mount.Heading + rad(ptz?.pan ?? 0), tilt: rad(ptz?.tilt ?? 0) };
}

// projected returns where a camera's picture shows the points of a laser scan: x and y from
// its upper left corner as fractions of its width and height, and the index of the reading. A
// pinhole without distortion is assumed. aspect is the width of the picture over its height.
/** @type {(scan: Float32Array | number[], laser: Placement, lens: Lens, aspect: number) => (Point & { index: number })[]} */
export function projected(scan, laser, lens, aspect) {
  const half = Math.tan(lens.fov / 2), cos = Math.cos(lens.tilt), sin = Math.sin(lens.tilt);
  const points = [];
  laserPoints(scan).forEach((p, index) => {
    if (!p.echo) return;
    const at = place(laser, p), dx = at.x - lens.X, dy = at.y - lens.Y;
    const ahead = dx * Math.cos(lens.Heading) + dy * Math.sin(lens.Heading);
    const left = dy * Math.cos(lens.Heading) - dx * Math.sin(lens.Heading);
    const depth = ahead * cos - lens.above * sin, up = -ahead * sin - lens.above * cos;
    const x = 0.5 - left / depth / half / 2, y = 0.5 - (up / depth / half / 2) * aspect;
    if (depth > LENS_NEAR && x >= 0 && x <= 1 && y >= 0 && y <= 1) points.push({ x, y, index });
  });
  return points;
}

// nearest returns distance and direction of the point that is nearest to the
// robot's centre, or null if there is none.
/** @param {Point[]} points */
export function nearest(points) {
  /** @type {{ distance: number, angle: number } | null} */
  let best = null;
  for (const { x, y } of points) {
    const distance = Math.hypot(x, y);
    if (!best || distance < best.distance) best = { distance, angle: Math.atan2(y, x) };
  }
  return best;
}

// reach returns the distance within which the given fraction of the points is, or
// undefined if there are no points.
/** @type {(points: Point[], fraction: number) => number | undefined} */
export function reach(points, fraction) {
  const distances = points.map(({ x, y }) => Math.hypot(x, y)).sort((a, b) => a - b);
  return distances[Math.floor(distances.length * fraction)];
}

// preview returns the path of a robot that keeps its speed (m/s) and turn rate
// (rad/s) for some seconds, in its own frame. It is empty if the robot stands.
/** @type {(position: Position, seconds: number) => Point[]} */
export function preview({ speed, turn }, seconds) {
  if (Math.abs(speed) < 0.005 && Math.abs(turn) < 0.02) return [];
  const path = [{ x: 0, y: 0 }], dt = seconds / PREVIEW_STEPS;
  for (let i = 0; i < PREVIEW_STEPS; i++) {
    const { x, y } = path[i], heading = turn * i * dt;
    path.push({ x: x + speed * dt * Math.cos(heading), y: y + speed * dt * Math.sin(heading) });
  }
  return path;
}

const NUDGE = 0.1, TWIST = Math.PI / 18; // metres and radians by which a key moves and turns
/** @type {Record<string, [x: number, y: number]>} */
const STEPS = { ArrowUp: [0, NUDGE], ArrowDown: [0, -NUDGE], ArrowLeft: [-NUDGE, 0], ArrowRight: [NUDGE, 0] };

// nudged returns where a key puts something: Shift and an arrow move it, comma and full stop
// turn it. It returns null for other keys.
/** @type {(pose: Pose, key: { code: string, shiftKey: boolean }) => Pose | null} */
export function nudged({ x, y, heading }, { code, shiftKey }) {
  const twist = { Comma: TWIST, Period: -TWIST }[code];
  if (twist) return { x, y, heading: heading + twist };
  const [dx, dy] = (shiftKey && STEPS[code]) || [0, 0];
  return dx || dy ? { x: x + dx, y: y + dy, heading } : null;
}
