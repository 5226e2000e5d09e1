// The simulated world from above, with true poses. Movers can be dragged.

import { circle, fill, inFrame, outline, polygon, stroke, strokeParts } from "./canvas.js";
import { context, covered, decodePlan, paintPlan, tint } from "./floor.js";
import { nudged, within } from "./geometry.js";
import { drawSensors } from "./sensors.js";
import { extend, tracePath } from "./trail.js";
import { View, palette } from "./view.js";
import { acknowledge, connect, decodePoses } from "./wire.js";

/** @import { Context, Drag, Model, Palette, Plan, Point, Pose, Scene, TrailPoint } from "../types" */
/** @import { WorldCommand, WorldMessage, WorldReport } from "../types" */
/** @import { Editor } from "./edit.js" */
/** @import { Robot } from "./robot.js" */
/** @typedef {Model & { radius: number, trail: TrailPoint[] }} Mover */

const TRAIL = { step: 0.04, limit: 800 }; // metres between points, and points: 32 m
const MOVE_PERIOD = 33; // ms between the messages of a drag: faster ones would queue up
const HANDLE = 26; // CSS pixels from a robot's edge to its handle: far enough for a finger
const CROWD = 24; // CSS pixels per metre below which names would overlap
const DOT = 4; // CSS pixels: the radius of a robot that would be too small to be seen
const TOUCH = 16; // CSS pixels around a mover where it can be touched: the radius of a fingertip
const RETRY = 1000; // ms until the next attempt to reach the simulator

export class World extends EventTarget {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{ select: (robot: Robot) => void, note: (text: string) => void }} options
   */
  constructor(canvas, { select, note }) {
    super();
    this.select = select;
    this.note = note;
    this.name = "";
    /** @type {Robot[]} */
    this.robots = []; // by mover, with holes
    /** @type {Mover[]} */
    this.movers = [];
    /** @type {Model["parts"]} */
    this.fixtures = [];
    /** @type {Pose[]} */
    this.now = []; // the newest poses of the movers
    this.poses = this.now; // that are shown
    this.time = 0; // simulated, s
    this.speed = 1;
    this.paused = this.finished = false;
    this.selected = this.dragged = -1; // movers
    /** @type {Pose & { mover: number, blocked?: boolean } | null} */
    this.ghost = null; // where a mover is dragged to
    this.lost = false;
    this.locked = false; // nothing may be moved
    this.frozen = false; // the poses are of the past
    this.fitted = false; // to the first poses
    /** @type {Editor | null} */
    this.editor = null; // the world file is shown
    /** @type {Plan | null} */
    this.plan = null;
    /** @type {OffscreenCanvas | null} */
    this.floor = null; // a mask of the walls of the plan
    /** @type {{ color: string, canvas: OffscreenCanvas } | null} */
    this.tinted = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {(robot: Robot) => Robot} */
    this.lens = (robot) => robot; // may return what it was in the past
    /** @type {(robot: Robot) => string} */
    this.mark = () => ""; // may mark a robot: bad, found, faded
    /** @type {(robot: Robot) => string} */
    this.label = ({ name }) => name; // may say more than the name of a robot
    /** @type {(point: Point) => boolean} */
    this.press = () => false; // takes a place in the frame of the selected robot, and reports whether that is all
    this.view = new View(canvas, { draw: (c) => this.draw(c), grab: (point, e) => this.grab(point, e) });
    this.view.onResize = () => this.view.touched || this.fit();
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("pointermove", (e) => {
      if (e.buttons === 0) canvas.style.cursor = !this.editor && this.at(this.view.point(e)) ? "grab" : "";
    });
  }

  // start gets the floor plan, which is another one if the server has another world after a reload,
  // and connects.
  async start() {
    const asked = first.plan ?? fetch("plan").catch(() => null);
    first.plan = undefined;
    const reply = await asked;
    if (reply?.ok) this.plan = decodePlan(await reply.arrayBuffer());
    this.tinted = null;
    this.connect();
  }

  connect() {
    const socket = (this.socket = connect("world"));
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.takePoses(socket, decodePoses(data));
      const message = /** @type {WorldMessage} */ (JSON.parse(data));
      if ("draft" in message) this.dispatchEvent(new CustomEvent("draft", { detail: message.draft }));
      else "movers" in message ? this.takeScene(message) : this.takeReport(message);
    };
    socket.onclose = () => {
      this.lost = true;
      this.note("The simulator does not answer.");
      this.dispatchEvent(new Event("lost"));
      setTimeout(() => this.start(), RETRY);
    };
  }

  /** @param {WorldCommand} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // takeScene takes shapes and mounts, which do not change.
  /** @param {Scene} scene */
  takeScene(scene) {
    this.lost = false;
    this.note("");
    this.name = scene.name;
    this.fixtures = scene.fixtures.flatMap((f) => f.parts).sort((a, b) => a.top - b.top);
    this.movers = scene.movers.map((m) => ({
      ...m,
      parts: m.parts.sort((a, b) => a.top - b.top),
      radius: Math.max(0.05, ...m.parts.flatMap((p) => p.outlines.flat()).map((v) => Math.hypot(v.X, v.Y))),
      trail: [],
    }));
    this.now = this.poses = []; // poses of a world before this one are of other movers
    if (this.plan) this.floor = this.paintFloor(this.plan);
    this.fitted = false;
    this.fit();
    this.dispatchEvent(new Event("scene"));
  }

  // assign sets the robot of each mover. A mover without one, a puck say, has none.
  /** @param {Robot[]} robots */
  assign(robots) {
    this.robots = [];
    for (const robot of robots.filter(({ mover }) => this.movers[mover])) {
      this.robots[robot.mover] = robot;
      robot.setBuild(this.movers[robot.mover]);
    }
  }

  // takeReport takes the result of a move.
  /** @param {WorldReport} report */
  takeReport({ mover, error }) {
    if (this.ghost?.mover === mover) this.ghost.blocked = error !== "";
    this.note(error);
    this.view.changed();
  }

  /** @type {(socket: WebSocket, message: ReturnType<typeof decodePoses>) => void} */
  takePoses(socket, message) {
    acknowledge(socket, message.number);
    this.now = message.poses;
    this.time = message.time;
    this.speed = message.speed;
    this.paused = message.paused;
    this.finished = message.finished;
    if (!this.frozen) this.poses = this.now;
    const { left, right, bottom, top } = this.extent();
    const outside = this.now.some(({ x, y }) => x < left || x > right || y < bottom || y > top); // there are no walls
    if (!this.fitted && outside) this.fit();
    this.fitted = true;
    this.now.forEach((pose, i) => extend(this.movers[i].trail, pose, TRAIL, this.dragged === i));
    this.dispatchEvent(new Event("time"));
    this.view.changed();
  }

  // freeze shows poses of the past until thaw.
  freeze(poses) { this.show(true, poses); }
  thaw() { this.show(false, this.now); }
  /** @type {(frozen: boolean, poses: Pose[]) => void} */
  show(frozen, poses) {
    this.frozen = frozen;
    this.poses = poses.slice(0, this.movers.length); // the past may belong to a world with more movers
    this.view.changed();
  }

  // extent is the rectangle of the floor that the plan covers.
  extent() {
    return this.plan ? covered(this.plan) : { left: -4, right: 4, bottom: -3, top: 3 };
  }

  // fit shows the plan, and the robots that are outside of it.
  fit() {
    const { left, right, bottom, top } = this.extent();
    const ends = (v, i) => [v - this.movers[i].radius, v + this.movers[i].radius];
    const xs = this.poses.flatMap(({ x }, i) => ends(x, i)), ys = this.poses.flatMap(({ y }, i) => ends(y, i));
    this.view.fit({
      left: Math.min(left, ...xs), right: Math.max(right, ...xs),
      bottom: Math.min(bottom, ...ys), top: Math.max(top, ...ys),
    }, 16);
  }

  // paintFloor makes a mask of the floor plan. Fixtures are left out of it:
  // their exact outlines are drawn.
  /** @param {Plan} plan */
  paintFloor(plan) {
    const canvas = paintPlan(plan), c = context(canvas);
    c.globalCompositeOperation = "destination-out";
    const cells = 1 / plan.resolution; // in a metre
    c.setTransform(cells, 0, 0, cells, -plan.x * cells, -plan.y * cells);
    c.lineWidth = 3 * plan.resolution;
    for (const points of this.fixtures.flatMap((part) => part.outlines)) {
      outline(c, points);
      c.fill();
      c.stroke();
    }
    return canvas;
  }

  // tint fills the mask with the colour of walls.
  /** @type {(floor: OffscreenCanvas, color: string) => OffscreenCanvas} */
  tint(floor, color) {
    if (this.tinted?.color !== color) this.tinted = { color, canvas: tint(floor, color) };
    return this.tinted.canvas;
  }

  /** @param {Context} c */
  draw(c) {
    const colors = palette(), { view } = this, pixel = view.pixel;
    this.drawGrid(c, colors, pixel);
    if (this.floor) {
      const { left, bottom, right, top } = this.extent();
      c.imageSmoothingEnabled = false;
      c.drawImage(this.tint(this.floor, colors.wall), left, bottom, right - left, top - bottom);
    }
    if (this.editor) return this.editor.draw(c, colors, pixel);
    for (const part of this.fixtures) this.drawPart(c, part, colors, pixel);
    this.poses.forEach((pose, i) => !this.robots[i] && this.drawMover(c, i, pose, colors, pixel));
    this.poses.forEach((pose, i) => this.robots[i] && this.drawSensed(c, i, pose, colors, pixel));
    this.poses.forEach((pose, i) => this.robots[i] && this.drawMover(c, i, pose, colors, pixel));
    this.drawSelection(c, colors, pixel);
    this.drawNames(c, colors, pixel);
    if (this.ghost?.blocked) this.drawGhost(c, this.ghost, colors, pixel);
  }

  drawGrid(c, colors, pixel) {
    const { left, right, bottom, top } = this.extent();
    c.fillStyle = colors.floor;
    c.fillRect(left, bottom, right - left, top - bottom);
    const step = [1, 5, 10, 50].find((s) => s / pixel > 24) ?? 100;
    c.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) c.moveTo(x, bottom), c.lineTo(x, top);
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) c.moveTo(left, y), c.lineTo(right, y);
    stroke(c, colors.grid, pixel);
  }

  /** @type {(c: Context, part: Model["parts"][number], colors: Palette, pixel: number) => void} */
  drawPart(c, part, colors, pixel) {
    for (const points of part.outlines) {
      outline(c, points);
      fill(c, part.color);
      fill(c, colors.veil); // softens pure colours
      stroke(c, colors["part-line"], pixel);
    }
  }

  /** @type {(c: Context, i: number, pose: Pose, colors: Palette, pixel: number) => void} */
  drawSensed(c, i, pose, colors, pixel) {
    const robot = this.robots[i], { trail } = this.movers[i];
    if (!this.frozen) { // the trail belongs to the present
      tracePath(c, trail);
      c.lineTo(pose.x, pose.y);
      stroke(c, colors.trail, 1.5 * pixel);
    }
    inFrame(c, pose, () => {
      c.globalAlpha = i === this.selected ? 1 : 0.45;
      drawSensors(c, this.lens(robot), colors, pixel);
    });
  }

  /** @type {(c: Context, i: number, pose: Pose, colors: Palette, pixel: number) => void} */
  drawMover(c, i, pose, colors, pixel) {
    const mover = this.movers[i];
    inFrame(c, pose, () => {
      for (const part of mover.parts) this.drawPart(c, part, colors, pixel);
      if (this.robots[i]) this.drawNose(c, mover.radius);
    });
  }

  // drawNose marks the front of a robot.
  drawNose(c, radius) {
    const r = Math.min(radius, 0.3);
    polygon(c, r * 0.75, 0, r * 0.15, r * 0.34, r * 0.15, -r * 0.34);
    fill(c, "#fff");
  }

  // drawNames draws the names of robots, and marks. The most important ones are drawn first:
  // a name for which there is no room is left out.
  drawNames(c, colors, pixel) {
    /** @type {[mover: number, mark: string][]} */
    const marked = [];
    this.robots.forEach((robot, i) => this.poses[i] && marked.push([i, this.mark(robot)]));
    const urgency = ([i, mark]) => (i === this.selected ? 0 : ["bad", "found", "", "faded"].indexOf(mark) + 1);
    const taken = [];
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = "center";
    for (const [i, mark] of marked.sort((a, b) => urgency(a) - urgency(b))) {
      const pose = this.poses[i], radius = this.movers[i].radius / pixel;
      const color = { bad: colors.bad, found: colors.accent }[mark];
      c.globalAlpha = mark === "faded" ? 0.3 : 1;
      circle(c, pose.x, pose.y, (color ? Math.max(radius, DOT) + 4 : DOT) * pixel);
      if (color) {
        stroke(c, color, 2.5 * pixel);
      } else if (radius < DOT) {
        fill(c, colors.dim); // it could not be seen
      }
      const at = this.view.toScreen(pose), name = this.label(this.robots[i]), half = c.measureText(name).width / 2 + 3;
      const crosses = (t) => Math.abs(t.x - at.x) < t.half + half && Math.abs(t.y - at.y) < 14;
      if (mark === "faded" || taken.some(crosses)) continue;
      if (i !== this.selected && !color && this.view.scale <= CROWD) continue;
      taken.push({ ...at, half });
      c.fillStyle = i === this.selected ? colors.text : (color ?? colors.dim);
      this.view.text(name, pose, 0, Math.max(radius, DOT) + 16);
    }
    c.globalAlpha = 1;
    c.textAlign = "start";
  }

  drawSelection(c, colors, pixel) {
    const pose = this.poses[this.selected];
    if (!pose) return;
    const radius = this.movers[this.selected].radius + 5 * pixel, handle = this.handle(this.selected);
    circle(c, pose.x, pose.y, radius);
    c.moveTo(pose.x + radius * Math.cos(pose.heading), pose.y + radius * Math.sin(pose.heading));
    c.lineTo(handle.x, handle.y);
    stroke(c, colors.accent, 1.5 * pixel);
    circle(c, handle.x, handle.y, 5 * pixel);
    fill(c, colors.panel);
    c.stroke();
  }

  // drawGhost shows where a dragged mover would be if it fitted there.
  /** @type {(c: Context, ghost: Pose & { mover: number }, colors: Palette, pixel: number) => void} */
  drawGhost(c, ghost, colors, pixel) {
    inFrame(c, ghost, () => {
      c.setLineDash([4 * pixel, 4 * pixel]);
      strokeParts(c, this.movers[ghost.mover].parts, colors.bad, 2 * pixel);
    });
  }

  // handle returns where a mover can be grabbed to turn it.
  handle(i) {
    const { x, y, heading } = this.poses[i], far = this.movers[i].radius + HANDLE * this.view.pixel;
    return { x: x + far * Math.cos(heading), y: y + far * Math.sin(heading) };
  }

  // at returns the mover at a screen point, and whether a drag turns it, or null.
  /** @type {(point: Point) => { mover: number, turn: boolean } | null} */
  at(point) {
    const floor = this.view.toFloor(point), touch = TOUCH * this.view.pixel;
    const distance = (p) => Math.hypot(p.x - floor.x, p.y - floor.y);
    const { selected } = this;
    if (this.poses[selected] && distance(this.handle(selected)) < touch) return { mover: selected, turn: true };
    /** @type {ReturnType<World["at"]>} */
    let best = null;
    let least = Infinity;
    this.poses.forEach((pose, i) => {
      const d = distance(pose);
      if (d < Math.max(this.movers[i].radius, touch) && d < least) [best, least] = [{ mover: i, turn: false }, d];
    });
    return best;
  }

  /** @type {(point: Point, e: PointerEvent) => Drag | null} */
  grab(point, e) {
    if (this.editor) return this.editor.grab(point, e);
    const pose = this.poses[this.selected];
    if (pose && this.press(within(pose, this.view.toFloor(point)))) return null;
    const hit = this.at(point);
    if (!hit) return null;
    const { mover } = hit, turn = hit.turn || e.shiftKey;
    if (this.robots[mover]) this.select(this.robots[mover]);
    if (this.locked || this.frozen) return null;
    const start = this.poses[mover], grip = this.view.toFloor(point);
    this.dragged = mover;
    this.view.canvas.style.cursor = "grabbing";
    let sentAt = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const send = () => {
      if (!this.ghost) return;
      sentAt = performance.now();
      const { x, y, heading } = this.ghost;
      this.send({ move: { mover, x, y, heading } });
    };
    return {
      move: (p) => {
        const to = this.view.toFloor(p);
        const change = turn
          ? { heading: Math.atan2(to.y - start.y, to.x - start.x) }
          : { x: start.x + to.x - grip.x, y: start.y + to.y - grip.y };
        this.ghost = { ...this.poses[mover], ...change, mover, blocked: this.ghost?.blocked };
        clearTimeout(timer);
        timer = setTimeout(send, Math.max(0, sentAt + MOVE_PERIOD - performance.now()));
        this.view.changed();
      },
      end: () => {
        clearTimeout(timer);
        send();
        this.ghost = null;
        this.dragged = -1;
        this.view.canvas.style.cursor = "";
        this.view.changed();
      },
    };
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (this.editor) return this.editor.key(e);
    const pose = this.poses[this.selected], to = pose && nudged(pose, e);
    if (!to || this.locked || this.frozen) return;
    e.preventDefault();
    this.send({ move: { mover: this.selected, ...to } });
  }
}
