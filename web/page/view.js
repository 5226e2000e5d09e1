// A canvas that shows a piece of the floor in metres, x to the right and y up,
// and lets it be moved and zoomed by mouse, wheel, and fingers.

const MIN_SCALE = 4, MAX_SCALE = 2000; // CSS pixels per metre

const colors = new Map();
addEventListener("themechange", () => colors.clear());

// palette has the colours of the theme by the names that style.css gives them.
const theme = new Proxy({}, {
  get(_, name) {
    if (!colors.has(name)) colors.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return colors.get(name);
  },
});
export const palette = () => theme;

export class View {
  // draw(context, view) draws in metres; grab(point, event), if given, may
  // return {move(point, event), end()} to take a drag for itself.
  constructor(canvas, { draw, grab = () => null, pan = true, scale = 60 }) {
    Object.assign(this, { canvas, draw, grab, pan, scale, x: 0, y: 0, width: 0, height: 0 });
    this.context = canvas.getContext("2d");
    this.pointers = new Map();
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : 0.0015)), this.point(e));
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
    this.onResize?.();
    this.changed();
  }

  // changed has the canvas drawn again before the next frame.
  changed() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.width === 0 || this.height === 0) return;
      const c = this.context, s = this.ratio * this.scale;
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, this.canvas.width, this.canvas.height);
      c.setTransform(s, 0, 0, -s, (this.width / 2) * this.ratio - this.x * s, (this.height / 2) * this.ratio + this.y * s);
      c.lineJoin = c.lineCap = "round";
      this.draw(c, this);
    });
  }

  // pixel is the length of a CSS pixel in metres.
  get pixel() { return 1 / this.scale; }

  toScreen({ x, y }) { return { x: this.width / 2 + (x - this.x) * this.scale, y: this.height / 2 - (y - this.y) * this.scale }; }
  toFloor({ x, y }) { return { x: this.x + (x - this.width / 2) / this.scale, y: this.y - (y - this.height / 2) / this.scale }; }

  // point is where an event is, in CSS pixels on the canvas.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  // zoom keeps what is under point, in CSS pixels, where it is.
  zoom(factor, point) {
    const before = this.toFloor(point);
    this.scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, this.scale * factor));
    if (this.pan) {
      const after = this.toFloor(point);
      this.x += before.x - after.x;
      this.y += before.y - after.y;
    }
    this.touched = true;
    this.changed();
  }

  // text writes at a place of the floor, shifted by CSS pixels.
  text(what, { x, y }, dx = 0, dy = 0) {
    const c = this.context, at = this.toScreen({ x, y });
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
      this.grabbed.move(point, e);
    } else if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1];
      const distance = (p) => Math.hypot(p.x - other.x, p.y - other.y);
      if (distance(last) > 0) this.zoom(distance(point) / distance(last), { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    }
    if (!this.grabbed && this.pan) {
      const share = 1 / this.pointers.size;
      this.x -= ((point.x - last.x) / this.scale) * share;
      this.y += ((point.y - last.y) / this.scale) * share;
      this.touched = true;
      this.changed();
    }
  }

  up(e) {
    if (!this.pointers.delete(e.pointerId)) return;
    this.grabbed?.end();
    this.grabbed = null;
  }

  // fit shows a rectangle of the floor, with a margin in CSS pixels.
  fit({ left, right, bottom, top }, margin = 24) {
    this.x = (left + right) / 2;
    this.y = (bottom + top) / 2;
    this.scale = Math.max(MIN_SCALE, Math.min((this.width - 2 * margin) / (right - left), (this.height - 2 * margin) / (top - bottom), MAX_SCALE));
    this.touched = false;
    this.changed();
  }
}
