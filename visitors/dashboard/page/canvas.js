// Drawing on canvases.

/** @import { Context, Model, Pose, Vec } from "../types" */

// sized returns the context of a canvas, with as many pixels as the screen has where the canvas is.
/** @param {HTMLCanvasElement} canvas */
export function sized(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return { c: /** @type {Context} */ (canvas.getContext("2d")), ratio, width, height };
}

/** @type {(c: Context, color: string, width: number) => void} */
export function stroke(c, color, width) {
  c.strokeStyle = color;
  c.lineWidth = width;
  c.stroke();
}

/** @type {(c: Context, color: string) => void} */
export function fill(c, color) {
  c.fillStyle = color;
  c.fill();
}

// inFrame draws in the frame of a pose.
/** @type {(c: Context, pose: Pose, draw: () => void) => void} */
export function inFrame(c, { x, y, heading }, draw) {
  c.save();
  c.translate(x, y);
  c.rotate(heading);
  draw();
  c.restore();
}

// outline makes a polygon the path.
/** @type {(c: Context | OffscreenCanvasRenderingContext2D, points: Vec[]) => void} */
export function outline(c, points) {
  c.beginPath();
  for (const p of points) c.lineTo(p.X, p.Y);
  c.closePath();
}

// circle makes a circle the path.
/** @type {(c: Context, x: number, y: number, radius: number) => void} */
export function circle(c, x, y, radius) {
  c.beginPath();
  c.arc(x, y, radius, 0, 2 * Math.PI);
}

// sector makes the path a sector around the x axis.
/** @type {(c: Context, radius: number, half: number) => void} */
export function sector(c, radius, half) {
  c.beginPath();
  c.moveTo(0, 0);
  c.arc(0, 0, radius, -half, half);
  c.closePath();
}

// polygon makes a polygon the path: x and y of each corner.
/** @type {(c: Context, ...corners: number[]) => void} */
export function polygon(c, ...corners) {
  c.beginPath();
  for (let i = 0; i < corners.length; i += 2) c.lineTo(corners[i], corners[i + 1]);
  c.closePath();
}

// strokeParts draws the outlines of parts.
/** @type {(c: Context, parts: Model["parts"], color: string, width: number) => void} */
export function strokeParts(c, parts, color, width) {
  for (const points of parts.flatMap((p) => p.outlines)) {
    outline(c, points);
    stroke(c, color, width);
  }
}
