// The last minute of the page's data, and the moment of it that is shown.

import { ROBOT_TRAIL, extend } from "./trail.js";

/** @import { Pose, RobotMoment, TrailPoint } from "../types" */
/** @import { Robot } from "./robot.js" */
/** @import { World } from "./world.js" */

export const SPAN = 60000; // ms that are kept
// ms between two moments that are kept, and of a robot that is not shown. They bound the
// memory: 1200 moments of 2 KB for the robot that is shown, 200 for each other one.
const STEP = 50, STEP_ASIDE = 300;

// Timeline keeps moments {at, ...}: of robots {data, ages}, of the world {poses}. Its
// keys are robots, and the world.
export class Timeline extends EventTarget {
  constructor() {
    super();
    /** @type {Map<Robot | World, any[]>} */
    this.kept = new Map();
    /** @type {Map<Robot | World, any[]> | null} */
    this.frozen = null; // what was kept when the past was entered; null: the present is shown
    this.at = this.end = 0; // of the past: the moment that is shown, and the last one
    this.cache = new Map();
  }

  get past() { return this.frozen !== null; }

  // keep keeps a moment unless the last one was just now.
  keep(key, moment, aside = false) {
    const list = this.kept.get(key) ?? [], at = performance.now();
    if (list.length && at - list.at(-1).at < (aside ? STEP_ASIDE : STEP)) return;
    list.push({ at, ...moment() });
    this.kept.set(key, list);
  }

  /** @type {(robot: Robot, aside: boolean) => void} */
  keepRobot(robot, aside) {
    if (robot.state !== "live") {
      const list = this.kept.get(robot);
      const nothing = { at: performance.now(), data: {}, ages: [], lost: true };
      if (list && !list.at(-1).lost) list.push(nothing);
      return;
    }
    this.keep(robot, () => {
      const present = [...robot.devices].filter(([letter]) => robot.data[letter]);
      return { data: { ...robot.data }, ages: present.map(([letter, { meter }]) => [letter, meter.age()]) };
    }, aside);
  }

  // trim forgets what is older than SPAN, except the moment that it began with.
  trim() {
    const first = performance.now() - SPAN;
    for (const list of this.kept.values()) list.splice(0, list.findLastIndex(({ at }) => at < first));
  }

  forget(key) { this.kept.delete(key); }

  // moments returns those that are kept, the oldest first.
  moments(key) { return (this.frozen ?? this.kept).get(key) ?? []; }

  // latest returns the time of the newest moment that can be shown.
  latest() { return this.past ? this.end : performance.now(); }

  // go shows a moment of the past.
  go(at) {
    if (!this.past) {
      this.end = performance.now();
      this.frozen = new Map([...this.kept].map(([key, list]) => [key, list.slice()]));
    }
    this.at = Math.max(this.end - SPAN, Math.min(this.end, at));
    this.changed();
  }

  live() {
    if (!this.past) return;
    this.frozen = null;
    this.changed();
  }

  changed() {
    this.cache.clear();
    this.dispatchEvent(new Event("change"));
  }

  // moment returns what was known at the moment that is shown, or undefined.
  moment(key) { return this.moments(key).findLast(({ at }) => at <= this.at); }

  // of returns a robot as it was at the moment that is shown; in the present, itself.
  of(robot) {
    if (!this.past || !robot) return robot;
    if (!this.cache.has(robot)) {
      const trail = [];
      for (const { at, data } of this.moments(robot)) if (at <= this.at && data.p) extend(trail, data.p, ROBOT_TRAIL);
      this.cache.set(robot, Object.assign(Object.create(robot), { data: this.moment(robot)?.data ?? {}, trail }));
    }
    return this.cache.get(robot);
  }
}
