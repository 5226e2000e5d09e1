// The clients of the server's robots, which robots are stopped, and requests to stop
// them. The server sends changes, and something each second: a page that hears
// nothing knows nothing.

import { connect } from "./wire.js";

/** @import { PresenceMessage, RobotPresence } from "../types" */
/** @import { Robot } from "./robot.js" */

const RETRY = 1000; // ms until the next attempt to reach the server
const SILENCE = 3500; // ms without a message after which the server is gone: three messages and a slow network
const LIMIT = 3000; // ms that a request to stop may take until it has failed
const FAR_LIMIT = 12000; // ms of one for a robot of another server, which this one tries for 10 s to reach

export class Presence extends EventTarget {
  constructor() {
    super();
    /** @type {Map<string, RobotPresence>} */
    this.robots = new Map(); // by address; robots of other servers are not in it
    /** @type {Set<string>} */
    this.stopped = new Set(); // addresses of those that are stopped
    this.lost = false; // nothing is heard from the server
    /** @type {Date | null} */
    this.heard = null; // when the server was last heard
    /** @type {Set<Robot>} */
    this.asking = new Set(); // robots that are being stopped
    this.problem = ""; // why the last request to stop or to release failed, or why nothing is heard
  }

  start() {
    const socket = connect("presence");
    this.listen();
    socket.onmessage = ({ data }) => {
      const { robots, stopped } = /** @type {PresenceMessage} */ (JSON.parse(data));
      for (const robot of robots) this.robots.set(robot.address, robot);
      this.stopped = new Set(stopped);
      if (!this.heard) this.problem = "";
      this.heard = new Date();
      this.listen();
      this.setLost(false);
    };
    socket.onclose = () => {
      clearTimeout(this.timer);
      this.setLost(true);
      if (!this.heard) this.explain();
      setTimeout(() => this.start(), RETRY);
    };
  }

  // explain shows why the server refuses the sockets of this page.
  async explain() {
    this.problem = (await first.refusal()).trim();
    this.changed();
  }

  // listen waits for the next message.
  listen() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.setLost(true), SILENCE);
  }

  // setLost also dispatches when the server is lost, and when it is back.
  setLost(lost) {
    const was = this.lost;
    this.lost = lost;
    this.changed();
    if (lost !== was) this.dispatchEvent(new Event(lost ? "lost" : "back"));
  }

  changed() { this.dispatchEvent(new Event("change")); }

  /** @param {Robot | null} robot */
  of(robot) { return robot ? this.robots.get(robot.address) : undefined; }

  // stop stops robots until they are released, or releases them.
  /** @type {(robots: Robot[], on?: boolean) => Promise<void>} */
  async stop(robots, on = true) {
    const here = robots.filter((robot) => this.of(robot)), elsewhere = robots.filter((robot) => !this.of(robot));
    const all = here.length > 1 && here.length === this.robots.size;
    const single = (robot) => ({ name: robot.name, address: robot.address, covers: [robot] });
    const requests = all
      ? [{ name: "the robots", address: "all", covers: here }, ...elsewhere.map(single)] : robots.map(single);
    this.problem = "";
    this.asking = new Set(on ? robots : []);
    this.changed();
    const problems = await Promise.all(requests.map((request) => this.request(request, on)));
    this.problem = problems.filter(Boolean).join(" ");
    this.asking.clear();
    this.changed();
  }

  // request returns why a request failed, or an empty text.
  /** @type {(request: { name: string, address: string, covers: Robot[] }, on: boolean) => Promise<string>} */
  async request({ name, address, covers }, on) {
    const what = on ? "stop" : "release", limit = covers.some((r) => this.of(r)) ? LIMIT : FAR_LIMIT;
    try {
      const reply = await fetch(`${what}?robot=${encodeURIComponent(address)}`, {
        method: "POST", signal: AbortSignal.timeout(limit),
      });
      if (!reply.ok) return `${name}: ${what} failed: ${(await reply.text()).trim()}.`;
    } catch {
      return `${name}: ${what} failed: the server does not answer.`;
    }
    // The server says the same in its next message. Another server says nothing.
    for (const r of covers) {
      if (!this.of(r)) r.stopped = on;
      else if (on) this.stopped.add(r.address);
      else this.stopped.delete(r.address);
    }
    return "";
  }
}
