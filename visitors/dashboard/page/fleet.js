// The list of many robots: those that need help first, with a search.

import { $ } from "./dom.js";
import { stateOf } from "./state.js";

/** @import { Rail } from "./rail.js" */
/** @import { Robot } from "./robot.js" */

const MANY = 8; // robots from which on there is a list; fewer fit side by side

export class Fleet {
  /**
   * @param {Robot[]} robots
   * @param {Rail} rail
   */
  constructor(robots, rail) {
    this.robots = robots;
    this.rail = rail;
    this.text = ""; // that is searched for
    /** @type {Robot[]} */
    this.sorted = []; // as in the list
    $("search").addEventListener("input", () => {
      this.text = $("search").value.trim().toLowerCase();
      this.update();
    });
  }

  get many() { return this.robots.length >= MANY; }

  start() {
    $("main").classList.toggle("many", this.many);
    $("search").hidden = !this.many;
    this.update();
  }

  /** @param {Robot} robot */
  matches(robot) {
    const words = `${robot.name} ${robot.address} ${stateOf(robot).text} ${robot.used ? "in use" : ""}`;
    return words.toLowerCase().includes(this.text);
  }

  // mark returns how a robot is drawn in the world: bad, found, faded, or "".
  /** @param {Robot} robot */
  mark(robot) {
    if (this.many && this.text && !this.matches(robot)) return "faded";
    return stateOf(robot).level === "bad" ? "bad" : this.many && this.text ? "found" : "";
  }

  // update hides robots that are not searched for, and sorts the list unless the user
  // is about to click in it.
  update() {
    const { rail, robots } = this;
    if (!this.many) return;
    const found = robots.filter((r) => this.matches(r)), known = new Map(robots.map((r) => [r, stateOf(r)]));
    const state = (robot) => /** @type {ReturnType<typeof stateOf>} */ (known.get(robot));
    for (const [robot, card] of rail.cards) card.hidden = !found.includes(robot);
    const count = (...names) => robots.filter((r) => names.includes(state(r).name)).length;
    const counts = [
      [count("gone"), "without a connection"], [count("stopped"), "stopped"], [count("lost", "trouble"), "in trouble"],
    ].filter(([n]) => n).map(([n, what]) => `${n} ${what}`);
    const all = `${this.text ? `${found.length} of ` : ""}${robots.length} robots`;
    $("fleet-state").textContent = [all, ...counts].join(" · ");
    $("fleet-state").classList.toggle("bad", counts.length > 0);
    const sorted = robots.toSorted((a, b) => state(a).rank - state(b).rank);
    const focus = /** @type {HTMLElement | null} */ (document.activeElement);
    if (!rail.list.matches(":hover") && sorted.some((r, i) => r !== this.sorted[i])) {
      this.sorted = sorted;
      rail.list.append(...sorted.flatMap((r) => rail.cards.get(r) ?? []));
      if (rail.list.contains(focus)) focus?.focus({ preventScroll: true });
    }
    rail.updateAll();
  }
}
