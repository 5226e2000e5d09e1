// The simulated world from above, with true poses. Movers can be dragged.

import { drawSensors, outline } from "./sensors.js";
import { extend, tracePath } from "./trail.js";
import { View, palette } from "./view.js";
import { acknowledge, connect, decodePlan, decodePoses } from "./wire.js";

const TRAIL = { step: 0.04, limit: 800 }; // metres between points, and points: 32 m
const MOVE_PERIOD = 33; // ms between the messages of a drag: faster ones would queue up
const NUDGE = 0.1, TWIST = Math.PI / 18; // metres and radians by which a key moves and turns
const HANDLE = 26; // CSS pixels from a robot's edge to its handle: far enough for a finger
const CROWD = 24; // CSS pixels per metre below which names would overlap
const DOT = 4; // CSS pixels: the radius of a robot that would be too small to be seen
const TOUCH = 16; // CSS pixels around a mover where it can be touched: the radius of a fingertip
const RETRY = 1000; // ms until the next attempt to reach the simulator

export class World extends EventTarget {
  constructor(canvas, { select, note }) {
    super();
    Object.assign(this, { select, note, robots: [], movers: [], poses: [], selected: -1, dragged: -1, lost: false, locked: false, frozen: false, editor: null }); // locked: nothing may be moved; editor: the world file is shown
    this.lens = (robot) => robot; // may return what it was in the past
    this.mark = () => ""; // may mark a robot: bad, found, faded
    this.label = ({ name }) => name; // may say more than the name of a robot
    this.view = new View(canvas, { draw: (c) => this.draw(c), grab: (point, e) => this.grab(point, e) });
    this.view.onResize = () => this.view.touched || this.fit();
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("pointermove", (e) => {
      if (e.buttons === 0) canvas.style.cursor = !this.editor && this.at(this.view.point(e)) ? "grab" : "";
    });
  }

  // start gets the floor plan, which another world after a reload of the server has, too,
  // and connects.
  async start() {
    const reply = await fetch("plan").catch(() => null);
    if (reply?.ok) this.plan = decodePlan(await reply.arrayBuffer());
    this.tinted = null;
    this.connect();
  }

  connect() {
    const socket = (this.socket = connect("world"));
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") return this.takePoses(decodePoses(data));
      const message = JSON.parse(data);
      if (message.draft) this.dispatchEvent(new CustomEvent("draft", { detail: message.draft }));
      else message.movers ? this.takeScene(message) : this.takeReport(message);
    };
    socket.onclose = () => {
      this.lost = true;
      this.note("The simulator does not answer.");
      this.dispatchEvent(new Event("lost"));
      setTimeout(() => this.start(), RETRY);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // takeScene takes shapes and mounts, which do not change.
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
    if (this.plan) this.floor = this.paintPlan();
    this.fitted = false;
    this.fit();
    this.dispatchEvent(new Event("scene"));
  }

  // assign sets the robot of each mover. A mover without one, a puck say, has none.
  assign(robots) {
    this.robots = [];
    for (const robot of robots.filter(({ mover }) => mover >= 0)) {
      this.robots[robot.mover] = robot;
      robot.setBuild(this.movers[robot.mover]);
    }
  }

  // takeReport takes the result of a move.
  takeReport({ mover, error }) {
    if (this.ghost?.mover === mover) this.ghost.blocked = error !== "";
    this.note(error);
    this.view.changed();
  }

  takePoses(message) {
    acknowledge(this.socket, message.number);
    Object.assign(this, { now: message.poses, time: message.time, speed: message.speed, paused: message.paused, finished: message.finished });
    if (!this.frozen) this.poses = this.now;
    const { left, right, bottom, top } = this.extent();
    if (!this.fitted && this.now.some(({ x, y }) => x < left || x > right || y < bottom || y > top)) this.fit(); // a world without walls
    this.fitted = true;
    this.now.forEach((pose, i) => extend(this.movers[i].trail, pose, TRAIL, this.dragged === i));
    this.dispatchEvent(new Event("time"));
    this.view.changed();
  }

  // freeze shows poses of the past until thaw.
  freeze(poses) { this.show(true, poses); }
  thaw() { this.show(false, this.now ?? []); }
  show(frozen, poses) {
    Object.assign(this, { frozen, poses });
    this.view.changed();
  }

  // extent is the rectangle of the floor that the plan covers.
  extent() {
    const p = this.plan;
    return p ? { left: p.x, right: p.x + p.width * p.resolution, bottom: p.y, top: p.y + p.height * p.resolution } : { left: -4, right: 4, bottom: -3, top: 3 };
  }

  // fit shows the plan, and the robots that are outside of it.
  fit() {
    const { left, right, bottom, top } = this.extent(), ends = (v, i) => [v - this.movers[i].radius, v + this.movers[i].radius];
    const xs = this.poses.flatMap(({ x }, i) => ends(x, i)), ys = this.poses.flatMap(({ y }, i) => ends(y, i));
    this.view.fit({ left: Math.min(left, ...xs), right: Math.max(right, ...xs), bottom: Math.min(bottom, ...ys), top: Math.max(top, ...ys) }, 16);
  }

  // paintPlan turns the floor plan into a mask. Fixtures are left out of it:
  // their exact outlines are drawn.
  paintPlan() {
    const { plan } = this, canvas = new OffscreenCanvas(plan.width, plan.height), c = canvas.getContext("2d");
    const image = c.createImageData(plan.width, plan.height);
    for (let y = 0; y < plan.height; y++) {
      for (let x = 0; x < plan.width; x++) {
        if (plan.wall(x, y)) image.data[4 * (y * plan.width + x) + 3] = 255; // y is up in the plan and when it is drawn
      }
    }
    c.putImageData(image, 0, 0);
    c.globalCompositeOperation = "destination-out";
    c.setTransform(1 / plan.resolution, 0, 0, 1 / plan.resolution, -plan.x / plan.resolution, -plan.y / plan.resolution);
    c.lineWidth = 3 * plan.resolution;
    for (const part of this.fixtures) {
      for (const points of part.outlines) {
        outline(c, points);
        c.fill();
        c.stroke();
      }
    }
    return canvas;
  }

  // tint fills the mask with the colour of walls.
  tint(color) {
    if (this.tinted?.color === color) return this.tinted.canvas;
    const canvas = new OffscreenCanvas(this.floor.width, this.floor.height), c = canvas.getContext("2d");
    c.drawImage(this.floor, 0, 0);
    c.globalCompositeOperation = "source-in";
    c.fillStyle = color;
    c.fillRect(0, 0, canvas.width, canvas.height);
    this.tinted = { color, canvas };
    return canvas;
  }

  draw(c) {
    const colors = palette(), { view } = this, pixel = view.pixel;
    this.drawGrid(c, colors, pixel);
    if (this.floor) {
      const { left, bottom, right, top } = this.extent();
      c.imageSmoothingEnabled = false;
      c.drawImage(this.tint(colors.wall), left, bottom, right - left, top - bottom);
    }
    if (this.editor) return this.editor.draw(c, colors, pixel);
    for (const part of this.fixtures ?? []) this.drawPart(c, part, colors, pixel);
    this.poses.forEach((pose, i) => !this.robots[i] && this.drawMover(c, i, pose, colors, pixel));
    this.poses.forEach((pose, i) => this.robots[i] && this.drawSensed(c, i, pose, colors, pixel));
    this.poses.forEach((pose, i) => this.robots[i] && this.drawMover(c, i, pose, colors, pixel));
    this.drawSelection(c, colors, pixel);
    this.drawNames(c, colors, pixel);
    if (this.ghost) this.drawGhost(c, colors, pixel);
  }

  drawGrid(c, colors, pixel) {
    const { left, right, bottom, top } = this.extent();
    c.fillStyle = colors.floor;
    c.fillRect(left, bottom, right - left, top - bottom);
    const step = [1, 5, 10, 50].find((s) => s / pixel > 24) ?? 100;
    c.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) c.moveTo(x, bottom), c.lineTo(x, top);
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) c.moveTo(left, y), c.lineTo(right, y);
    c.strokeStyle = colors.grid;
    c.lineWidth = pixel;
    c.stroke();
  }

  drawPart(c, part, colors, pixel) {
    for (const points of part.outlines) {
      outline(c, points);
      c.fillStyle = part.color;
      c.fill();
      c.fillStyle = colors.veil; // softens pure colours
      c.fill();
      c.strokeStyle = colors["part-line"];
      c.lineWidth = pixel;
      c.stroke();
    }
  }

  drawSensed(c, i, pose, colors, pixel) {
    const robot = this.robots[i], { trail } = this.movers[i];
    if (!this.frozen) { // the trail is that of the present
      tracePath(c, trail);
      c.lineTo(pose.x, pose.y);
      c.strokeStyle = colors.trail;
      c.lineWidth = 1.5 * pixel;
      c.stroke();
    }
    c.save();
    c.translate(pose.x, pose.y);
    c.rotate(pose.heading);
    c.globalAlpha = i === this.selected ? 1 : 0.45;
    drawSensors(c, this.lens(robot), colors, pixel);
    c.restore();
  }

  drawMover(c, i, pose, colors, pixel) {
    const mover = this.movers[i];
    c.save();
    c.translate(pose.x, pose.y);
    c.rotate(pose.heading);
    for (const part of mover.parts) this.drawPart(c, part, colors, pixel);
    if (this.robots[i]) this.drawNose(c, mover.radius);
    c.restore();
  }

  // drawNose marks the front of a robot.
  drawNose(c, radius) {
    const r = Math.min(radius, 0.3);
    c.beginPath();
    c.moveTo(r * 0.75, 0);
    c.lineTo(r * 0.15, r * 0.34);
    c.lineTo(r * 0.15, -r * 0.34);
    c.closePath();
    c.fillStyle = "#fff";
    c.fill();
  }

  // drawNames draws the names of robots, and marks. What matters most is drawn first:
  // a name for which there is no room is left out.
  drawNames(c, colors, pixel) {
    const marked = this.robots.map((robot, i) => robot && [i, this.mark(robot)]).filter((m) => m && this.poses[m[0]]);
    const urgency = ([i, mark]) => (i === this.selected ? 0 : ["bad", "found", "", "faded"].indexOf(mark) + 1);
    const taken = [];
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = "center";
    for (const [i, mark] of marked.sort((a, b) => urgency(a) - urgency(b))) {
      const pose = this.poses[i], radius = this.movers[i].radius / pixel, color = { bad: colors.bad, found: colors.accent }[mark];
      c.globalAlpha = mark === "faded" ? 0.3 : 1;
      c.beginPath();
      c.arc(pose.x, pose.y, (color ? Math.max(radius, DOT) + 4 : DOT) * pixel, 0, 2 * Math.PI);
      if (color) {
        c.strokeStyle = color;
        c.lineWidth = 2.5 * pixel;
        c.stroke();
      } else if (radius < DOT) {
        c.fillStyle = colors.dim; // it could not be seen
        c.fill();
      }
      const at = this.view.toScreen(pose), name = this.label(this.robots[i]), half = c.measureText(name).width / 2 + 3;
      if (mark === "faded" || taken.some((t) => Math.abs(t.x - at.x) < t.half + half && Math.abs(t.y - at.y) < 14)) continue;
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
    c.strokeStyle = colors.accent;
    c.lineWidth = 1.5 * pixel;
    c.beginPath();
    c.arc(pose.x, pose.y, radius, 0, 2 * Math.PI);
    c.moveTo(pose.x + radius * Math.cos(pose.heading), pose.y + radius * Math.sin(pose.heading));
    c.lineTo(handle.x, handle.y);
    c.stroke();
    c.beginPath();
    c.arc(handle.x, handle.y, 5 * pixel, 0, 2 * Math.PI);
    c.fillStyle = colors.panel;
    c.fill();
    c.stroke();
  }

  // drawGhost shows where a dragged mover would be if it fitted there.
  drawGhost(c, colors, pixel) {
    const { mover, x, y, heading, blocked } = this.ghost;
    if (!blocked) return;
    c.save();
    c.translate(x, y);
    c.rotate(heading);
    c.strokeStyle = colors.bad;
    c.lineWidth = 2 * pixel;
    c.setLineDash([4 * pixel, 4 * pixel]);
    for (const part of this.movers[mover].parts) {
      for (const points of part.outlines) {
        outline(c, points);
        c.stroke();
      }
    }
    c.restore();
  }

  // handle returns where a mover can be grabbed to turn it.
  handle(i) {
    const { x, y, heading } = this.poses[i], far = this.movers[i].radius + HANDLE * this.view.pixel;
    return { x: x + far * Math.cos(heading), y: y + far * Math.sin(heading) };
  }

  // at returns the mover at a screen point, and whether a drag turns it, or null.
  at(point) {
    const floor = this.view.toFloor(point), touch = TOUCH * this.view.pixel;
    const distance = (p) => Math.hypot(p.x - floor.x, p.y - floor.y);
    if (this.poses[this.selected] && distance(this.handle(this.selected)) < touch) return { mover: this.selected, turn: true };
    let best = null, least = Infinity;
    this.poses.forEach((pose, i) => {
      const d = distance(pose);
      if (d < Math.max(this.movers[i].radius, touch) && d < least) [best, least] = [{ mover: i, turn: false }, d];
    });
    return best;
  }

  grab(point, e) {
    if (this.editor) return this.editor.grab(point, e);
    const hit = this.at(point);
    if (!hit) return null;
    const { mover } = hit, turn = hit.turn || e.shiftKey;
    if (this.robots[mover]) this.select(this.robots[mover]);
    if (this.locked || this.frozen) return null;
    const start = this.poses[mover], grip = this.view.toFloor(point);
    this.dragged = mover;
    this.view.canvas.style.cursor = "grabbing";
    let sentAt = 0, timer = 0;
    const send = () => {
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
        if (this.ghost) send();
        this.ghost = null;
        this.dragged = -1;
        this.view.canvas.style.cursor = "";
        this.view.changed();
      },
    };
  }

  key(e) {
    if (this.editor) return this.editor.key(e);
    const pose = this.poses[this.selected];
    const step = { ArrowUp: [0, NUDGE], ArrowDown: [0, -NUDGE], ArrowLeft: [-NUDGE, 0], ArrowRight: [NUDGE, 0] }[e.code];
    const twist = { Comma: TWIST, Period: -TWIST }[e.code];
    if (!pose || this.locked || this.frozen || !(twist || (step && e.shiftKey))) return;
    e.preventDefault();
    const [dx, dy] = twist ? [0, 0] : step;
    this.send({ move: { mover: this.selected, x: pose.x + dx, y: pose.y + dy, heading: pose.heading + (twist ?? 0) } });
  }
}
