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

// strokeParts draws the outlines of parts.
/** @type {(c: Context, parts: Model["parts"], color: string, width: number) => void} */
export function strokeParts(c, parts, color, width) {
  for (const points of parts.flatMap((p) => p.outlines)) {
    outline(c, points);
    stroke(c, color, width);
  }
}
