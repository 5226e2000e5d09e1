// Editing of the world file. The server keeps one draft of it, for all pages, and sends
// what each change gives; the world that runs stays as it is.

import { inFrame, stroke, strokeParts } from "./canvas.js";
import { $ } from "./dom.js";
import { nudged } from "./geometry.js";

/** @import { Context, Drag, Draft, Edit, Model, Palette, Placement, Point, Pose, Vec } from "../types" */
/** @import { World } from "./world.js" */
/** @typedef {Model & { radius: number, start: Pose }} Thing */

const TOUCH = 12; // CSS pixels around a thing where it can be touched
const OLD = "The server has loaded another world file since this draft began. " +
  "Save downloads the draft; Revert begins again from the file.";
const ORPHAN = "The server was started again, and has no draft any more. " +
  "Save downloads what this page had of it; Revert shows the file.";
const HINT = "The world file from above. Drag a thing to move it, drag with Shift to turn it. " +
  "With the keyboard: Page Up and Page Down select a thing, Shift and arrow keys move it, " +
  "comma and full stop turn it, Delete deletes it.";

export class Editor {
  // save(name, text) offers a file to the user.
  /**
   * @param {World} world
   * @param {(name: string, text: string) => void} save
   */
  constructor(world, save) {
    this.world = world;
    this.save = save;
    /** @type {Thing[]} */
    this.things = [];
    this.selected = -1; // a thing
    this.on = false;
    this.busy = false; // the server works on an edit
    /** @type {Pose | null} */
    this.ghost = null; // where the selected thing is dragged to
    this.walling = false; // a drag draws a wall
    /** @type {{ from: Point, to: Point } | null} */
    this.line = null; // the wall that is drawn
    /** @type {Point | null} */
    this.point = null; // what is there is selected when the edit is done
    /** @type {Draft | null} */
    this.draft = null;
    this.orphan = false; // the draft that is shown is only in this page
    this.name = ""; // of the world file
    this.label = $("world-canvas").ariaLabel;
    $("edit").addEventListener("click", () => (this.on ? this.leave() : this.send({})));
    $("edit-add").addEventListener("click", () => {
      const { x, y } = world.view;
      this.send({ add: { kind: $("edit-kind").value, x, y, heading: 0 } }, { x, y });
    });
    $("edit-wall").addEventListener("click", () => this.wall(!this.walling));
    $("edit-delete").addEventListener("click", () => this.delete());
    $("edit-undo").addEventListener("click", () => this.send({ undo: true }));
    $("edit-revert").addEventListener("click", () => {
      const { orphan } = this;
      this.orphan = false;
      if (this.draft && orphan) this.draft.edited = false;
      this.send(orphan ? {} : { revert: true });
    });
    $("edit-save").addEventListener("click", () => {
      if (this.draft) this.save(this.name, this.draft.text);
    });
    world.addEventListener("draft", (e) => this.take(/** @type {CustomEvent<Draft>} */ (e).detail));
    world.addEventListener("lost", () => {
      this.busy = false;
      this.update();
    });
    // A page that was reloaded, or connects again, goes on.
    world.addEventListener("scene", () => {
      if (this.on || (first.kept("editing") && !world.locked)) this.send({});
    });
  }

  // send sends an edit unless the server works on one. The thing at the point is
  // selected when the edit is done.
  /** @type {(edit: Edit, point?: Point | null) => void} */
  send(edit, point = null) {
    if (this.busy || this.orphan || this.world.lost) return;
    this.busy = true;
    this.point = point;
    this.world.send({ edit: { ...edit, base: this.draft?.changes ?? 0 } });
  }

  /** @param {Draft} draft */
  take(draft) {
    const { scene, starts, kinds, error } = draft;
    this.busy = false;
    this.ghost = null;
    this.orphan = this.draft !== null && this.draft.edited && draft.id !== this.draft.id;
    this.world.note(this.orphan ? ORPHAN : [error, draft.old && OLD].filter(Boolean).join(" "));
    this.world.view.changed();
    if (this.orphan) return this.enter();
    if (!scene) return;
    const { length } = this.things;
    const models = [...scene.fixtures.map((m, i) => local(m, starts[i])), ...scene.movers];
    this.things = models.map((model, i) => thing(model, starts[i]));
    this.name = scene.name.slice(scene.name.lastIndexOf("/") + 1);
    this.draft = draft;
    if (this.point) this.selected = this.nearest(this.point, Infinity);
    else if (this.things.length !== length) this.selected = -1;
    if (this.on) return this.update();
    $("edit-kind").replaceChildren(...kinds.map((kind) => new Option(kind, kind)));
    this.enter();
  }

  enter() {
    this.on = true;
    this.show();
  }

  leave() {
    Object.assign(this, { on: false, ghost: null, selected: -1 });
    this.show();
  }

  show() {
    const { world, on } = this;
    world.editor = on ? this : null;
    $("edit-bar").hidden = !on;
    $("edit").setAttribute("aria-pressed", String(on));
    first.keep("editing", on ? "1" : "");
    $("world-canvas").ariaLabel = on ? HINT : this.label;
    this.wall(false);
  }

  wall(on) {
    this.walling = on;
    $("edit-wall").setAttribute("aria-pressed", String(on));
    this.update();
  }

  update() {
    const { name } = this.things[this.selected] ?? {}, fixed = this.orphan || this.world.lost;
    for (const button of [$("edit-add"), $("edit-wall")]) button.disabled = fixed;
    $("edit-undo").disabled = fixed || !this.draft?.undo;
    $("edit-revert").disabled = this.world.lost || !(this.orphan || this.draft?.edited || this.draft?.old);
    $("edit-delete").disabled = !name || fixed;
    $("edit-delete").title = name ? `Delete ${name}` : "Select a thing first";
    this.world.view.changed();
  }

  select(index) {
    this.selected = index;
    this.update();
  }

  /** @param {Pose} pose */
  move(pose) { this.send({ move: { thing: this.selected, ...pose } }); }
  delete() { if (this.selected >= 0) this.send({ delete: this.selected }); }

  // nearest returns the thing within reach of a floor point, the smaller one of two
  // that are at it; -1: there is none.
  /** @type {(point: Point, reach: number) => number} */
  nearest(point, reach) {
    let best = -1, least = [reach, 0];
    this.things.forEach((t, i) => {
      const d = [distance(t, point), t.radius];
      const nearer = d[0] < least[0] || (best >= 0 && d[0] === least[0] && d[1] < least[1]);
      if (t.parts.length && nearer) [best, least] = [i, d];
    });
    return best;
  }

  /** @type {(point: Point, e: PointerEvent) => Drag | null} */
  grab(point, e) {
    const { view } = this.world, from = view.toFloor(point);
    if (this.busy || this.orphan) return null;
    if (this.walling) {
      return {
        move: (p) => { this.line = { from, to: view.toFloor(p) }; view.changed(); },
        end: () => {
          const { line } = this;
          this.line = null;
          if (line) this.send({ wall: line }, { x: (line.from.x + line.to.x) / 2, y: (line.from.y + line.to.y) / 2 });
          view.changed();
        },
      };
    }
    this.select(this.nearest(from, TOUCH * view.pixel));
    if (this.selected < 0) return null;
    const { start } = this.things[this.selected];
    return {
      move: (p) => {
        const to = view.toFloor(p);
        this.ghost = e.shiftKey
          ? { ...start, heading: Math.atan2(to.y - start.y, to.x - start.x) }
          : { ...start, x: start.x + to.x - from.x, y: start.y + to.y - from.y };
        view.changed();
      },
      end: () => { if (this.ghost) this.move(this.ghost); },
    };
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const count = this.things.length, start = this.things[this.selected]?.start;
    const to = start && nudged(start, e), next = { PageDown: 1, PageUp: -1 }[e.code];
    const last = this.selected < 0 && next < 0 ? 0 : this.selected; // from none: the first, or the last one
    if (next && count) this.select((last + next + count) % count);
    else if (start && e.code === "Delete") this.delete();
    else if (to) this.move(to);
    else return;
    e.preventDefault();
  }

  /** @type {(c: Context, colors: Palette, pixel: number) => void} */
  draw(c, colors, pixel) {
    const { world } = this;
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = "center";
    this.things.forEach((t, i) => {
      const chosen = i === this.selected, pose = (chosen && this.ghost) || t.start;
      inFrame(c, pose, () => {
        for (const part of t.parts) world.drawPart(c, part, colors, pixel);
        if (t.mounts) world.drawNose(c, t.radius);
        if (chosen) strokeParts(c, t.parts, colors.accent, 2.5 * pixel);
      });
      if (!chosen && !t.mounts) return;
      c.fillStyle = chosen ? colors.text : colors.dim;
      world.view.text(t.name, pose, 0, t.radius / pixel + 16);
    });
    c.textAlign = "start";
    if (!this.line) return;
    const { from, to } = this.line;
    c.beginPath();
    c.moveTo(from.x, from.y);
    c.lineTo(to.x, to.y);
    stroke(c, colors.accent, 0.1);
  }
}

// local returns a fixture with its outlines in the frame of its pose.
/** @type {(model: Model, pose: Placement) => Model} */
function local(model, { X, Y, Heading }) {
  const cos = Math.cos(Heading), sin = Math.sin(Heading);
  const turn = (v) => ({ X: cos * (v.X - X) + sin * (v.Y - Y), Y: cos * (v.Y - Y) - sin * (v.X - X) });
  const parts = model.parts.map((p) => ({ ...p, outlines: p.outlines.map((points) => points.map(turn)) }));
  return { ...model, parts };
}

/** @type {(model: Model, pose: Placement) => Thing} */
function thing(model, { X, Y, Heading }) {
  const parts = [...model.parts].sort((a, b) => a.top - b.top);
  const radius = Math.max(0, ...parts.flatMap((p) => p.outlines.flat()).map((v) => Math.hypot(v.X, v.Y)));
  return { ...model, parts, radius, start: { x: X, y: Y, heading: Heading } };
}

// distance returns how far a floor point is from a thing; 0: within it.
/** @type {(thing: Thing, point: Point) => number} */
function distance({ parts, start }, { x, y }) {
  const cos = Math.cos(start.heading), sin = Math.sin(start.heading), dx = x - start.x, dy = y - start.y;
  const p = { X: cos * dx + sin * dy, Y: cos * dy - sin * dx };
  return Math.min(Infinity, ...parts.flatMap((part) => part.outlines).map((points) => beyond(points, p)));
}

// beyond returns the distance of a point from a polygon; 0: within it.
/** @type {(points: Vec[], p: Vec) => number} */
function beyond(points, p) {
  let inside = false, least = Infinity, a = points[points.length - 1];
  for (const b of points) {
    if (a.Y > p.Y !== b.Y > p.Y && p.X < a.X + ((p.Y - a.Y) / (b.Y - a.Y)) * (b.X - a.X)) inside = !inside;
    const sx = b.X - a.X, sy = b.Y - a.Y;
    const along = Math.max(0, Math.min(1, ((p.X - a.X) * sx + (p.Y - a.Y) * sy) / (sx * sx + sy * sy || 1)));
    least = Math.min(least, Math.hypot(a.X + along * sx - p.X, a.Y + along * sy - p.Y));
    a = b;
  }
  return inside ? 0 : least;
}
