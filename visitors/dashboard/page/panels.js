// The panels of the devices without letters: one for each IMU, receiver of satellites, io and servo
// device that is watched, and a list of the further range sensors.

import { part } from "./dom.js";
import { nearest, raysPoints } from "./geometry.js";
import { GpsPanel } from "./gps.js";
import { ImuPanel } from "./imu.js";
import { IoPanel } from "./io.js";
import { ranging, senses } from "./others.js";
import { colorOf } from "./sensors.js";
import { ServoPanel } from "./servo.js";
import * as text from "./text.js";

/** @import { DriveMessage, Name, Other } from "../types" */
/** @import { Driver } from "./drive.js" */
/** @import { Robot } from "./robot.js" */
/** @typedef {{ section: HTMLElement, update(robot: Robot, other: Other): boolean | void }} Panel */

// PANELS make the panel of a device; update reports whether it has made other controls.
/** @type {Record<string, (body: HTMLElement, state: HTMLElement, send: (message: DriveMessage) => void, driver: Driver) => (robot: Robot, other: Other) => boolean | void>} */
const PANELS = {
  imu(body) {
    const panel = new ImuPanel(body);
    return (robot, { name }) => panel.update(robot.data[name]);
  },
  gps(body, state) {
    const panel = new GpsPanel(body, state);
    return (robot, { name }) => panel.update(robot.data[name], robot.tracks.get(name));
  },
  io(body, _, send) {
    const panel = new IoPanel(body, (number, value) => send({ output: { number, value } }));
    return (robot, { name, channels }) => panel.update(robot.data[name], channels);
  },
  servo(body, _, send) {
    const panel = new ServoPanel(body, {
      move: (number, goal) => send({ joint: { number, goal } }), stop: () => send({ joint: {} }), power: (power) => send({ power }),
    });
    return (robot, { name, channels }) => panel.update(robot.data[name], channels);
  },
  misc(body, state) {
    body.innerHTML = `<div class="row"><span>Battery</span><output class="number"></output></div>`;
    const volts = part(body, "output");
    return (robot, { name }) => {
      const m = robot.data[name], { text: bumpers, alarm } = text.body({ m });
      state.textContent = bumpers;
      state.classList.toggle("bad", alarm);
      volts.textContent = text.volts(m);
    };
  },
  goto(body, state, _, driver) {
    const field = (label) => `<label>${label} <input type="number" step="any" required data-needs="write moves"> m</label>`;
    body.innerHTML = `<button type="button" data-needs="write moves"></button><form class="row" aria-label="Go to">${field("X")}${field("Y")}<button data-needs="write moves">Go</button></form>`;
    const button = part(body, "button"), form = /** @type {HTMLFormElement} */ (part(body, "form"));
    const [x, y] = /** @type {HTMLInputElement[]} */ ([...body.querySelectorAll("input")]);
    /** @type {Name} */
    let device;
    button.addEventListener("click", () => (driver.order || driver.aiming ? driver.halt() : driver.aim(device)));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      driver.go(device, { x: x.valueAsNumber, y: y.valueAsNumber });
      button.focus(); // it gives up now; in a field, Esc and the keys would not stop the robot
    });
    return (robot, { name }) => {
      device = name;
      driver.follow();
      const { p } = robot.data;
      x.placeholder = p ? p.x.toFixed(1) : "";
      y.placeholder = p ? p.y.toFixed(1) : "";
      state.textContent = text.goal(robot.data[name]);
      button.textContent = driver.order ? "Give up" : driver.aiming ? "Press the place, in a view" : "Go to a place";
    };
  },
};

const ORDER = Object.keys(PANELS);

export class Panels {
  /**
   * @param {HTMLElement} place
   * @param {Driver} driver
   * @param {() => void} changed is called when there are other controls than before
   */
  constructor(place, driver, changed) {
    this.place = place;
    this.driver = driver;
    this.changed = changed;
    /** @type {Robot | null} */
    this.robot = null; // that has the panels
    /** @type {Map<Name | "ranges", Panel>} */
    this.panels = new Map();
  }

  // update shows the data of now; robot is now, or its state in the past.
  /** @type {(now: Robot, robot: Robot) => void} */
  update(now, robot) {
    let anew = false;
    if (now !== this.robot) {
      this.robot = now;
      this.panels.clear();
      anew = true;
    }
    // The panel of a goal stays until its end: it has the button that gives the goal up.
    const shown = (name) => now.device(name).wanted || (this.driver.robot === now && (this.driver.order?.device ?? this.driver.aiming) === name);
    const others = now.others.filter(({ name, interface: kind }) => ORDER.includes(kind) && shown(name));
    others.sort((a, b) => ORDER.indexOf(a.interface) - ORDER.indexOf(b.interface) || a.index - b.index);
    const keys = /** @type {(Name | "ranges")[]} */ ([...(now.others.some(senses) ? ["ranges"] : []), ...others.map(({ name }) => name)]);
    for (const key of this.panels.keys()) if (!keys.includes(key)) this.panels.delete(key), (anew = true);
    for (const key of keys) {
      if (this.panels.has(key)) continue;
      const other = others.find(({ name }) => name === key);
      this.panels.set(key, other ? this.make(other) : this.makeRanges());
      anew = true;
    }
    if (anew) this.place.replaceChildren(...keys.map((key) => /** @type {Panel} */ (this.panels.get(key)).section));
    for (const [key, panel] of this.panels) {
      const other = others.find(({ name }) => name === key);
      if (other) {
        const device = now.device(other.name);
        panel.section.classList.toggle("idle", !robot.data[other.name]);
        panel.section.classList.toggle("absent", device.access === "e");
        part(panel.section, ".head").dataset.refused = text.refused(device);
      }
      if (panel.update(robot, other ?? now.others[0])) anew = true;
    }
    if (anew) this.changed();
  }

  /** @type {(className: string, label: string) => { section: HTMLElement, body: HTMLElement, state: HTMLElement }} */
  section(className, label) {
    const section = document.createElement("section");
    section.className = `panel ${className}`;
    section.setAttribute("aria-label", label);
    section.innerHTML = `<div class="head"><h2></h2><span class="state number"></span></div><div class="kind"></div>`;
    part(section, "h2").textContent = label;
    return { section, body: part(section, ".kind"), state: part(section, ".state") };
  }

  /** @type {(other: Other) => Panel} */
  make({ name, interface: kind, label, driver }) {
    const { section, body, state } = this.section(kind, label);
    part(section, "h2").title = `${name}, ${driver}`;
    section.dataset.device = name;
    return { section, update: PANELS[kind](body, state, (message) => this.driver.send({ ...message, device: name }), this.driver) };
  }

  // makeRanges makes the list of the range sensors without letters: a button for each, which shows and
  // hides its readings.
  /** @type {() => Panel} */
  makeRanges() {
    const { section, body, state } = this.section("ranges", "Range sensors"), list = document.createElement("ul");
    list.className = "legend";
    body.append(list);
    let made = "";
    return {
      section,
      update: (robot) => {
        const now = /** @type {Robot} */ (this.robot), sensors = now.others.filter(senses);
        const names = sensors.map(({ name }) => name).join();
        const anew = names !== made;
        if (anew) {
          made = names;
          list.replaceChildren(...sensors.map((other) => this.range(other)));
        }
        state.textContent = `${ranging(robot).length} of ${sensors.length} shown`;
        sensors.forEach((other, i) => showRange(/** @type {HTMLElement} */ (list.children[i]), now, robot, other));
        return anew;
      },
    };
  }

  /** @param {Other} other */
  range({ name, label, driver }) {
    const row = document.createElement("li");
    row.innerHTML = `<button type="button" class="quiet" data-needs="read"><i aria-hidden="true"></i><b></b></button><span class="number"></span>`;
    const button = part(row, "button");
    part(row, "b").textContent = label;
    row.title = `${name}, ${driver}`;
    button.addEventListener("click", () => {
      const robot = /** @type {Robot} */ (this.robot), { wanted, access } = robot.device(name);
      robot.want(name, !wanted || access === "e");
    });
    return row;
  }
}

/** @type {(row: HTMLElement, now: Robot, robot: Robot, other: Other) => void} */
function showRange(row, now, robot, other) {
  const { name, rays } = other, ranges = robot.data[name], device = now.device(name);
  part(row, "i").style.setProperty("--mark", `var(--${colorOf(now.others, other)})`);
  part(row, "button").setAttribute("aria-pressed", String(device.wanted && device.access !== "e"));
  part(row, "span").textContent = device.access === "e" ? text.refused(device) : !device.wanted ? "hidden" : !ranges ? "no data yet" : text.ranges(ranges.length, rays.length > 0, nearest(raysPoints(rays, ranges).filter((p) => p.echo)));
}
