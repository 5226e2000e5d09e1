// Floor plans: the bits that a server sends (scene.go), and the picture of its walls.

/** @import { Plan } from "../types" */

/** @param {OffscreenCanvas} canvas */
export const context = (canvas) => /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));

// decodePlan decodes a floor plan. wall(x, y) counts cells from the lower left.
/** @type {(buffer: ArrayBuffer) => Plan} */
export function decodePlan(buffer) {
  const view = new DataView(buffer);
  const width = view.getUint32(24), height = view.getUint32(28);
  const row = Math.ceil(width / 8), bits = new Uint8Array(buffer, 32);
  return {
    x: view.getFloat64(0), y: view.getFloat64(8), resolution: view.getFloat64(16), width, height,
    wall: (x, y) => (bits[y * row + (x >> 3)] & (0x80 >> (x & 7))) !== 0,
  };
}

// covered is the rectangle of the floor that a plan covers.
/** @param {Plan} plan */
export const covered = (plan) => ({
  left: plan.x, right: plan.x + plan.width * plan.resolution, bottom: plan.y, top: plan.y + plan.height * plan.resolution,
});

// paintPlan makes a mask of the walls of a floor plan: a pixel for each cell.
/** @param {Plan} plan */
export function paintPlan(plan) {
  const canvas = new OffscreenCanvas(plan.width, plan.height), c = context(canvas);
  const image = c.createImageData(plan.width, plan.height);
  for (let y = 0; y < plan.height; y++) {
    for (let x = 0; x < plan.width; x++) {
      if (plan.wall(x, y)) image.data[4 * (y * plan.width + x) + 3] = 255; // y is up in the plan and when it is drawn
    }
  }
  c.putImageData(image, 0, 0);
  return canvas;
}

// tint returns a mask in the colour of walls.
/** @type {(mask: OffscreenCanvas, color: string) => OffscreenCanvas} */
export function tint(mask, color) {
  const canvas = new OffscreenCanvas(mask.width, mask.height), c = context(canvas);
  c.drawImage(mask, 0, 0);
  c.globalCompositeOperation = "source-in";
  c.fillStyle = color;
  c.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}
