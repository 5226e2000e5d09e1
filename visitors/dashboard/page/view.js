// A canvas that shows a piece of the floor, which mouse, wheel and fingers move
// and zoom.

import { Viewport } from "./viewport.js";

/** @import { Context, Drag, Palette, Point } from "../types" */

// Zoom per unit of wheel movement: a notch of 100 is 16 %. A pinch on a touchpad
// reports smaller movements, with ctrlKey.
const WHEEL = 0.0015, PINCH = 0.01;

const colors = new Map();
addEventListener("themechange", () => colors.clear());

// theme has the colours of the current theme by their names in style.css.
const theme = new Proxy(/** @type {Palette} */ ({}), {
  get(_, /** @type {string} */ name) {
    if (!colors.has(name)) {
      colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    }
    return colors.get(name);
  },
});
export const palette = () => theme;

export class View extends Viewport {
  // draw(context) draws in metres. grab(point, event) may return {move(point),
  // end()} to handle a drag itself. Without pan the floor stays where it is.
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{
   *   draw: (context: Context) => void,
   *   grab?: (point: Point, event: PointerEvent) => Drag | null,
   *   pan?: boolean,
   * }} options
   */
  constructor(canvas, { draw, grab = () => null, pan = true }) {
    super();
    this.canvas = canvas;
    this.draw = draw;
    this.grab = grab;
    this.pan = pan;
    this.touched = false; // moved or zoomed since the last fit
    this.onResize = () => {};
    this.context = /** @type {Context} */ (canvas.getContext("2d"));
    this.ratio = 1; // pixels of the screen in a CSS pixel
    this.pending = 0; // the animation frame that redraws
    /** @type {Map<number, Point>} */
    this.pointers = new Map(); // that are down, by their id
    /** @type {Drag | null} */
    this.grabbed = null;
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.scaleBy(Math.exp(-e.deltaY * (e.ctrlKey ? PINCH : WHEEL)), this.point(e));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const type of ["pointerup", "pointercancel"]) canvas.addEventListener(type, (e) => this.up(e));
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    this.ratio = devicePixelRatio || 1;
    this.width = clientWidth;
    this.height = clientHeight;
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    this.onResize();
    this.changed();
  }

  // changed redraws the canvas in the next animation frame.
  changed() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.width === 0 || this.height === 0) return;
      const c = this.context, s = this.ratio * this.scale;
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, this.canvas.width, this.canvas.height);
      const left = (this.width / 2) * this.ratio - this.x * s, top = (this.height / 2) * this.ratio + this.y * s;
      c.setTransform(s, 0, 0, -s, left, top);
      c.lineJoin = c.lineCap = "round";
      this.draw(c);
    });
  }

  // point returns where an event is on the screen.
  /** @param {MouseEvent} event */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  scaleBy(factor, point) {
    this.zoom(factor, this.pan ? point : undefined);
    this.touched = true;
    this.changed();
  }

  fit(rectangle, margin) {
    super.fit(rectangle, margin);
    this.touched = false;
    this.changed();
  }

  // text writes at a floor point, shifted by CSS pixels.
  text(what, point, dx, dy) {
    const c = this.context, at = this.toScreen(point);
    c.save();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillText(what, at.x + dx, at.y + dy);
    c.restore();
  }

  down(e) {
    if (e.button > 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    const point = this.point(e);
    this.pointers.set(e.pointerId, point);
    if (this.pointers.size === 1) this.grabbed = this.grab(point, e);
    else this.grabbed?.end(), (this.grabbed = null);
  }

  move(e) {
    const last = this.pointers.get(e.pointerId), point = this.point(e);
    if (!last) return;
    this.pointers.set(e.pointerId, point);
    if (this.grabbed) {
      this.grabbed.move(point);
    } else if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      const distance = (p) => Math.hypot(p.x - other.x, p.y - other.y);
      const middle = { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 };
      if (distance(last) > 0) this.scaleBy(distance(point) / distance(last), middle);
    }
    if (!this.grabbed && this.pan) {
      const part = 1 / this.pointers.size; // two fingers that move together report two moves
      this.shift((point.x - last.x) * part, (point.y - last.y) * part);
      this.touched = true;
      this.changed();
    }
  }

  up(e) {
    if (!this.pointers.delete(e.pointerId)) return;
    this.grabbed?.end();
    this.grabbed = null;
  }
}
