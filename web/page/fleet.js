// The list of many robots: those in trouble first, with a search.

const PERIOD = 2000; // ms between two requests for the states of robots that are not watched
const MANY = 8; // robots from which on there is a list; fewer fit side by side
const LOW = 11.3; // volts of an empty battery
const $ = (id) => document.getElementById(id);

export class Fleet {
  constructor(robots, rail) {
    Object.assign(this, { robots, rail, known: new Map(), text: "" });
    rail.describe = (robot, text) => this.describe(robot, text);
    $("search").addEventListener("input", () => {
      this.text = $("search").value.trim().toLowerCase();
      this.update();
    });
    setInterval(() => this.many && !document.hidden && this.ask(), PERIOD);
  }

  get many() { return this.robots.length >= MANY; }

  start() {
    $("main").classList.toggle("many", this.many);
    $("search").hidden = !this.many;
    if (this.many) return this.ask();
  }

  // ask asks for the health of the robots of this server, by port.
  async ask() {
    try {
      const reply = await fetch("healthz"); // 503: a robot is not well
      for (const robot of (await reply.json()).robots) this.known.set(String(robot.port), robot);
    } catch {
      this.known.clear();
    }
    this.update();
  }

  // state returns how urgent a robot is, 0 is most, and why. Robots of other servers have
  // no name, and may have the same port.
  state(robot) {
    const { m, p } = robot.data, known = robot.name === robot.address ? null : this.known.get(robot.address.split(":").at(-1));
    const bad = Object.entries(known?.devices ?? {}).filter(([, state]) => ["lost", "failed", "stale"].includes(state));
    if (bad.length) return [0, bad.map(([name, state]) => `${name} ${state}`).join(", ")];
    if (robot.state === "lost") return [0, "lost"];
    if (p?.stall) return [0, "wheels stalled"];
    if (m && (m.front || m.rear)) return [0, "bumpers pressed"];
    if (m && m.volts < LOW) return [0, `battery ${m.volts.toFixed(1)} V`];
    if (known?.stopped) return [1, "stopped"];
    if (Object.values(known?.devices ?? {}).includes("ready")) return [2, "in use"];
    return known ? [3, "idle"] : [2, ""];
  }

  describe(robot, text) {
    const [rank, why] = this.state(robot);
    return [rank < 2 || robot.state === "off" && why ? why : text, ["bad", "warn", "good", ""][rank]];
  }

  matches(robot) { return `${robot.name} ${robot.address} ${this.state(robot)[1]}`.toLowerCase().includes(this.text); }

  // mark returns how a robot is drawn in the world: bad, warn, found, faded, or "".
  mark(robot) {
    if (!this.many) return "";
    if (this.text && !this.matches(robot)) return "faded";
    return ["bad", "warn"][this.state(robot)[0]] ?? (this.text ? "found" : "");
  }

  // update hides robots that are not searched for, and sorts the list unless somebody
  // is about to click in it.
  update() {
    const { rail, robots } = this;
    if (!this.many) return;
    const found = robots.filter((r) => this.matches(r)), ranks = new Map(robots.map((r) => [r, this.state(r)[0]]));
    for (const [robot, card] of rail.cards) card.hidden = !found.includes(robot);
    const count = (rank) => robots.filter((r) => ranks.get(r) === rank).length;
    $("fleet-state").textContent = `${this.text ? `${found.length} of ` : ""}${robots.length} robots · ${count(0)} in trouble${count(1) ? ` · ${count(1)} stopped` : ""}`;
    $("fleet-state").classList.toggle("bad", count(0) > 0);
    const sorted = robots.toSorted((a, b) => ranks.get(a) - ranks.get(b));
    const focus = document.activeElement;
    if (!rail.list.matches(":hover") && sorted.some((r, i) => r !== this.sorted?.[i])) {
      this.sorted = sorted;
      rail.list.append(...sorted.map((r) => rail.cards.get(r)));
      if (rail.list.contains(focus)) focus.focus({ preventScroll: true });
    }
    rail.updateAll();
  }
}
