// The piece of the floor that a canvas shows: floor points are metres, x to the
// right and y up; screen points are CSS pixels from the canvas's upper left
// corner, y down.

/** @import { Point } from "../types" */

const MIN_SCALE = 4, MAX_SCALE = 2000; // CSS pixels per metre: some 300 m or 0.5 m on a screen

export class Viewport {
  // scale is CSS pixels per metre; x and y are the floor point in the middle.
  constructor(scale = 60) {
    this.scale = scale;
    this.least = MIN_SCALE;
    this.x = this.y = this.width = this.height = 0;
  }

  limit(scale) { return Math.max(this.least, Math.min(MAX_SCALE, scale)); }

  // pixel is the length of a CSS pixel in metres.
  get pixel() { return 1 / this.scale; }

  /** @param {Point} point */
  toScreen({ x, y }) {
    return { x: this.width / 2 + (x - this.x) * this.scale, y: this.height / 2 - (y - this.y) * this.scale };
  }

  /** @param {Point} point */
  toFloor({ x, y }) {
    return { x: this.x + (x - this.width / 2) / this.scale, y: this.y - (y - this.height / 2) / this.scale };
  }

  // zoom changes the scale. With a fixed screen point, the place at it stays
  // there; without one, the middle does.
  zoom(factor, fixed = { x: this.width / 2, y: this.height / 2 }) {
    const before = this.toFloor(fixed);
    this.scale = this.limit(this.scale * factor);
    const after = this.toFloor(fixed);
    this.x += before.x - after.x;
    this.y += before.y - after.y;
  }

  // shift moves the floor by CSS pixels.
  shift(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  // fit shows a rectangle of the floor, with a margin in CSS pixels.
  fit({ left, right, bottom, top }, margin = 24) {
    this.x = (left + right) / 2;
    this.y = (bottom + top) / 2;
    const width = this.width - 2 * margin, height = this.height - 2 * margin;
    this.scale = this.limit(Math.min(width / (right - left), height / (top - bottom)));
  }
}
