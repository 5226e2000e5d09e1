// The map of a fleet: robots on one canvas, with the floor plan that they share. However
// many robots move in however many messages, each animation frame draws once.

import { covered, decodePlan, paintPlan, tint } from "../../../visitors/dashboard/page/floor.js";
import { View } from "../../../visitors/dashboard/page/view.js";

const LENGTH = 0.5; // m: of a robot
const LEAST = 11, MOST = 22; // CSS pixels: half of a robot is seen, and does not cover its neighbours
const TOUCH = 14; // CSS pixels around a robot where it can be clicked
const STILL = 5; // CSS pixels that a finger may move in a click
const MARGIN = 36; // CSS pixels around all robots: room for names
const ROOM = 1; // m around a robot
const FONT = 12, LINE = 14; // CSS pixels: of names
const MIN_SCALE = 1e-4; // CSS pixels per metre: a thousand kilometres on a screen
const STEP = 60, ZOOM = 1.25; // CSS pixels and factor by which a key moves and zooms

// Those that matter most last: they are drawn above others, and are the first to have names.
const STATES = ["well", "driven", "trouble", "stopped"];
const COLORS = { stopped: "--text", trouble: "--bad", driven: "--accent", well: "--good", name: "--text", edge: "--panel", wall: "--wall" };

// ARROW is a robot that looks to the right, half as long as its size.
const ARROW = [[0.6, 0], [-0.4, 0.4], [-0.2, 0], [-0.4, -0.4]];

export class FleetMap {
  // link is the element that lies over the robot under the pointer.
  constructor(canvas, link) {
    this.canvas = canvas;
    this.link = link;
    this.robots = []; // of this map: name, state, text, driver, page, place, faded
    this.draws = 0;
    /** @type {{ extent: ReturnType<typeof covered>, mask: OffscreenCanvas, tinted: OffscreenCanvas | null } | null} */
    this.plan = null;
    /** @type {string | null} */
    this.digest = ""; // of the plan; null: it could not be fetched
    this.colors = {};
    this.pointer = null; // where it is
    this.widths = new Map(); // of names, in CSS pixels
    this.view = new View(canvas, { draw: (c) => this.draw(c) });
    this.view.least = MIN_SCALE;
    this.view.onResize = () => this.view.touched || this.fit();
    canvas.addEventListener("pointermove", (e) => this.point(e.buttons ? null : this.view.point(e)));
    canvas.addEventListener("pointerleave", (e) => e.relatedTarget === link || this.point(null));
    link.addEventListener("pointermove", (e) => this.point(this.view.point(e)));
    link.addEventListener("pointerleave", () => this.point(null));
    let down = { x: 0, y: 0 };
    canvas.addEventListener("pointerdown", (e) => (down = this.view.point(e)));
    canvas.addEventListener("click", (e) => { // of a finger, which points at nothing before
      const at = this.view.point(e);
      if (Math.hypot(at.x - down.x, at.y - down.y) > STILL) return; // the end of a drag
      this.point(at);
      if (!link.hidden) link.click();
    });
    link.addEventListener("wheel", (e) => {
      e.preventDefault();
      canvas.dispatchEvent(new WheelEvent("wheel", e));
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("dblclick", () => this.fit());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
  }

  // show shows robots, which all have a place, and the floor plan with a digest; empty: none.
  show(robots, plan) {
    this.robots = robots;
    if (plan !== this.digest) this.load(plan);
    if (!this.view.touched && !this.fits()) this.fit();
    this.view.changed();
  }

  // moved is to be called after places of robots have changed.
  moved() { this.view.changed(); }

  async load(digest) {
    this.digest = digest;
    this.plan = null;
    this.fit();
    if (!digest) return;
    const reply = await fetch(`plan?of=${encodeURIComponent(digest)}`).catch(() => null);
    const bytes = reply?.ok ? await reply.arrayBuffer().catch(() => null) : null;
    if (digest !== this.digest) return; // another one was chosen meanwhile
    if (!bytes) return void (this.digest = null); // the next message asks for it again
    const plan = decodePlan(bytes);
    this.plan = { extent: covered(plan), mask: paintPlan(plan), tinted: null };
    this.fit();
  }

  repaint() {
    this.colors = {};
    if (this.plan) this.plan.tinted = null;
    this.view.changed();
  }

  // color returns a colour of the theme. Only a property of an element has the one of
  // light-dark().
  color(name) {
    if (!this.colors[name]) {
      this.canvas.style.color = `var(${COLORS[name]})`;
      this.colors[name] = getComputedStyle(this.canvas).color;
    }
    return this.colors[name];
  }

  extent() {
    let { left, right, bottom, top } = this.plan?.extent ?? { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
    for (const { place: [x, y] } of this.robots) {
      left = Math.min(left, x - ROOM), right = Math.max(right, x + ROOM);
      bottom = Math.min(bottom, y - ROOM), top = Math.max(top, y + ROOM);
    }
    return { left, right, bottom, top };
  }

  // fits reports whether all robots are seen, and are not all in a corner.
  fits() {
    const { left, right, bottom, top } = this.extent(), { view } = this;
    const a = view.toScreen({ x: left, y: top }), b = view.toScreen({ x: right, y: bottom });
    return a.x >= 0 && a.y >= 0 && b.x <= view.width && b.y <= view.height && (b.x - a.x > view.width / 3 || b.y - a.y > view.height / 3);
  }

  fit() {
    if (this.robots.length > 0 && this.view.width > 0) this.view.fit(this.extent(), MARGIN);
  }

  get size() { return Math.max(LEAST, Math.min(MOST, LENGTH * this.view.scale)); } // CSS pixels of a robot

  draw(c) {
    this.draws++;
    const { view, plan } = this;
    if (plan) {
      const { left, right, bottom, top } = plan.extent;
      plan.tinted ??= tint(plan.mask, this.color("wall"));
      c.imageSmoothingEnabled = false;
      c.drawImage(plan.tinted, left, bottom, right - left, top - bottom);
    }
    c.setTransform(view.ratio, 0, 0, view.ratio, 0, 0); // CSS pixels from here on
    const seen = this.place();
    c.lineWidth = 1;
    c.strokeStyle = this.color("edge");
    for (const faded of [true, false]) {
      c.globalAlpha = faded ? 0.15 : 1;
      for (const state of STATES) {
        const group = seen[state].filter((r) => Boolean(r.faded) === faded);
        if (group.length > 0) this.drawRobots(c, group, this.color(state));
      }
    }
    this.drawNames(c, seen);
    this.point(this.pointer);
  }

  // place notes where the robots are on the screen, and returns those that are seen, by state.
  place() {
    const seen = { stopped: [], trouble: [], driven: [], well: [] }, { width, height, scale, x, y } = this.view;
    for (const robot of this.robots) {
      robot.sx = width / 2 + (robot.place[0] - x) * scale;
      robot.sy = height / 2 - (robot.place[1] - y) * scale;
      if (robot.sx > -MOST && robot.sx < width + MOST && robot.sy > -MOST && robot.sy < height + MOST) seen[robot.state]?.push(robot);
    }
    return seen;
  }

  // drawRobots draws robots of one colour at once.
  drawRobots(c, robots, color) {
    const { size } = this;
    c.beginPath();
    for (const { sx, sy, place } of robots) {
      const turn = (place[2] * Math.PI) / 180, cos = size * Math.cos(turn), sin = size * Math.sin(turn);
      ARROW.forEach(([u, v], i) => {
        const x = sx + u * cos - v * sin, y = sy - u * sin - v * cos;
        i === 0 ? c.moveTo(x, y) : c.lineTo(x, y);
      });
      c.closePath();
    }
    c.fillStyle = color;
    c.fill();
    c.stroke();
  }

  // drawNames draws the names that do not cover others; of driven robots also the driver.
  drawNames(c, seen) {
    const taken = new Set(), { size } = this, cell = LINE;
    c.globalAlpha = 1;
    c.font = `${FONT}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const state of STATES.toReversed()) {
      c.fillStyle = this.color(state === "trouble" ? "trouble" : "name");
      for (const robot of seen[state]) {
        if (robot.faded) continue;
        const text = robot.driver ? `${robot.name} · ${robot.driver}` : robot.name;
        let width = this.widths.get(text);
        if (width === undefined) {
          if (this.widths.size > 5000) this.widths.clear(); // names come and go
          this.widths.set(text, (width = c.measureText(text).width));
        }
        const top = robot.sy + 0.6 * size + 1;
        const first = Math.floor((robot.sx - width / 2) / cell), last = Math.floor((robot.sx + width / 2) / cell);
        const upper = Math.floor(top / cell), lower = Math.floor((top + LINE - 1) / cell);
        let free = true;
        for (let i = first; free && i <= last; i++) free = !taken.has(i * 4096 + upper) && !taken.has(i * 4096 + lower);
        if (!free) continue;
        for (let i = first; i <= last; i++) taken.add(i * 4096 + upper), taken.add(i * 4096 + lower);
        c.fillText(text, robot.sx, top);
      }
    }
  }

  // at returns the robot at a point of the screen, or undefined.
  at({ x, y }) {
    let nearest, least = Math.max(TOUCH, this.size / 2);
    for (const robot of this.robots) {
      const distance = Math.hypot(robot.sx - x, robot.sy - y);
      if (distance < least) nearest = robot, least = distance;
    }
    return nearest;
  }

  // point lays the link over the robot at a point.
  point(at) {
    this.pointer = at;
    const robot = at ? this.at(at) : undefined, { link } = this;
    this.canvas.title = robot ? about(robot) : "";
    link.hidden = !robot?.page;
    if (link.hidden) return;
    link.title = about(robot);
    if (link.getAttribute("href") !== robot.page) link.setAttribute("href", robot.page);
    link.style.left = `${robot.sx}px`;
    link.style.top = `${robot.sy}px`;
  }

  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const step = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[e.key];
    const zoom = { "+": ZOOM, "=": ZOOM, "-": 1 / ZOOM }[e.key];
    if (e.key === "0") this.fit();
    else if (zoom) this.view.scaleBy(zoom);
    else if (step) this.view.shift(...step), (this.view.touched = true), this.view.changed();
    else return;
    e.preventDefault();
  }
}

const about = ({ name, text }) => (text ? `${name}: ${text}` : name);
