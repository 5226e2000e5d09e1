// Who is at the robots of the server, which of them are stopped, and requests to
// stop them. The server sends what changes.

import { connect } from "./wire.js";

const RETRY = 1000; // ms until the next attempt to reach the server

export class Presence extends EventTarget {
  constructor() {
    super();
    this.robots = new Map(); // by address; robots of other servers are not in it
    this.lost = false;
    this.problem = ""; // why the last request to stop or to release failed
  }

  start() {
    const socket = connect("presence");
    socket.onmessage = ({ data }) => {
      for (const robot of JSON.parse(data).robots) this.robots.set(robot.address, robot);
      this.setLost(false);
    };
    socket.onclose = () => {
      this.setLost(true);
      setTimeout(() => this.start(), RETRY);
    };
  }

  setLost(lost) {
    this.lost = lost;
    this.changed();
  }

  changed() { this.dispatchEvent(new Event("change")); }

  of(robot) { return robot && this.robots.get(robot.address); }

  // stop stops robots until they are released, or releases them.
  async stop(robots, on = true) {
    const here = robots.filter((robot) => this.of(robot)), elsewhere = robots.filter((robot) => !this.of(robot));
    const all = here.length > 1 && here.length === this.robots.size;
    const requests = all ? [{ name: "the robots", address: "all", covers: here }, ...elsewhere] : robots;
    this.problem = "";
    const problems = await Promise.all(requests.map((request) => this.request(request, on)));
    this.problem = problems.filter(Boolean).join(" ");
    this.changed();
  }

  // request returns why a request failed, or an empty text.
  async request(robot, on) {
    const { name, address, covers = [robot] } = robot, what = on ? "stop" : "release";
    try {
      const reply = await fetch(`${what}?robot=${encodeURIComponent(address)}`, { method: "POST" });
      if (!reply.ok) return `${name}: ${what} failed: ${(await reply.text()).trim()}.`;
    } catch {
      return `${name}: ${what} failed: the server does not answer.`;
    }
    // The server tells the same later, unless it is another one.
    for (const r of covers) (this.of(r) ?? r).stopped = on;
    return "";
  }
}
