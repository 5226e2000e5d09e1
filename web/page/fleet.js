// The list of many robots: those that need somebody first, with a search.

import { stateOf } from "./state.js";

const MANY = 8; // robots from which on there is a list; fewer fit side by side
const $ = (id) => document.getElementById(id);

export class Fleet {
  constructor(robots, rail) {
    Object.assign(this, { robots, rail, text: "" });
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

  matches(robot) { return `${robot.name} ${robot.address} ${stateOf(robot).text} ${robot.used ? "in use" : ""}`.toLowerCase().includes(this.text); }

  // mark returns how a robot is drawn in the world: bad, found, faded, or "".
  mark(robot) {
    if (this.many && this.text && !this.matches(robot)) return "faded";
    return stateOf(robot).level === "bad" ? "bad" : this.many && this.text ? "found" : "";
  }

  // update hides robots that are not searched for, and sorts the list unless somebody
  // is about to click in it.
  update() {
    const { rail, robots } = this;
    if (!this.many) return;
    const found = robots.filter((r) => this.matches(r)), states = new Map(robots.map((r) => [r, stateOf(r)]));
    for (const [robot, card] of rail.cards) card.hidden = !found.includes(robot);
    const count = (...names) => robots.filter((r) => names.includes(states.get(r).name)).length;
    const counts = [[count("gone"), "without a connection"], [count("stopped"), "stopped"], [count("lost", "trouble"), "in trouble"]].filter(([n]) => n);
    $("fleet-state").textContent = [`${this.text ? `${found.length} of ` : ""}${robots.length} robots`, ...counts.map(([n, what]) => `${n} ${what}`)].join(" · ");
    $("fleet-state").classList.toggle("bad", counts.length > 0);
    const sorted = robots.toSorted((a, b) => states.get(a).rank - states.get(b).rank);
    const focus = document.activeElement;
    if (!rail.list.matches(":hover") && sorted.some((r, i) => r !== this.sorted?.[i])) {
      this.sorted = sorted;
      rail.list.append(...sorted.map((r) => rail.cards.get(r)));
      if (rail.list.contains(focus)) focus.focus({ preventScroll: true });
    }
    rail.updateAll();
  }
}
