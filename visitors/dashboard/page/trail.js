// Trails: lists of the points that something passed, {x, y, jump} in metres.

import { placeOf } from "./geometry.js";

/** @import { Context, Gps, Name, Point, Track, TrailPoint } from "../types" */

export const ROBOT_TRAIL = { step: 0.02, limit: 4000 }; // metres between points, and points: 80 m
const JUMP = 0.5; // metres between two reports: no robot drives that far, so it was moved
// Of a receiver of satellites: its errors jump by metres.
const GPS_TRAIL = { step: 0.1, limit: 4000, jump: 100 };

// extend appends a point unless it is nearer than step to the last one, and
// keeps at most limit points. No line is drawn to a point with jump; moved sets
// it whatever the distance.
/** @type {(trail: TrailPoint[], point: Point, bounds: { step: number, limit: number, jump?: number }, moved?: boolean) => void} */
export function extend(trail, { x, y }, { step, limit, jump = JUMP }, moved = false) {
  const last = trail.at(-1);
  const distance = last ? Math.hypot(x - last.x, y - last.y) : Infinity;
  if (distance < step) return;
  trail.push({ x, y, jump: moved || distance > jump });
  if (trail.length > limit) trail.shift();
}

// follow extends the track of a receiver by its newest data, if it has a place.
/** @type {(tracks: Map<Name, Track>, name: Name, gps: Gps) => void} */
export function follow(tracks, name, gps) {
  if (!(gps.fix > 0) || Number.isNaN(gps.latitude + gps.longitude)) return;
  let track = tracks.get(name);
  if (!track) tracks.set(name, (track = { latitude: gps.latitude, longitude: gps.longitude, points: [] }));
  extend(track.points, placeOf(gps, track), GPS_TRAIL);
}

// tracePath begins a path along a trail.
/** @type {(c: Context, trail: TrailPoint[]) => void} */
export function tracePath(c, trail) {
  c.beginPath();
  for (const p of trail) p.jump ? c.moveTo(p.x, p.y) : c.lineTo(p.x, p.y);
}
