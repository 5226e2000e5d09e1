// The devices of the robot that is shown: a button for each, which subscribes
// and unsubscribes, with the rate and the age of its data. They are folded to one line.

import { $, bindFold, part } from "./dom.js";
import { listed, senses } from "./others.js";
import { colorOf } from "./sensors.js";
import * as text from "./text.js";

/** @import { Key } from "../types" */
/** @import { Robot } from "./robot.js" */

export class Chips {
  /**
   * @param {HTMLElement} list
   * @param {{ old: number, dead: number }} limits as of text.chip
   */
  constructor(list, limits) {
    this.limits = limits;
    bindFold($("devices-open"), $("details"));
    /** @type {Robot | null} */
    this.robot = null;
    this.list = list;
    /** @type {Map<Key, HTMLElement>} */
    this.buttons = new Map();
    this.update();
  }

  // button returns the button of a device, which it makes if it is not there.
  /** @type {(key: Key, name: string) => HTMLElement} */
  button(key, name) {
    let button = this.buttons.get(key);
    if (!button) {
      button = Object.assign(document.createElement("button"), { type: "button", className: "chip" });
      button.dataset.device = key;
      button.innerHTML = `<b></b><span class="number"><span class="rate"></span><span class="age"></span></span>`;
      button.addEventListener("click", () => this.toggle(key));
      this.buttons.set(key, button);
      this.list.append(button);
    }
    part(button, "b").textContent = name;
    return button;
  }

  /** @param {Key} key */
  toggle(key) {
    if (!this.robot) return;
    const { wanted, access } = this.robot.device(key);
    this.robot.want(key, !wanted || access === "e");
    this.update();
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.robot = robot;
    this.update();
  }

  update() {
    const { robot } = this, [worst, line] = robot ? text.devices(robot, this.limits) : ["", "Devices"], there = listed(robot ?? {});
    $("devices-open").textContent = line;
    $("devices-open").dataset.level = worst;
    for (const [key, button] of this.buttons) {
      if (there.some((device) => device.key === key)) continue;
      button.remove();
      this.buttons.delete(key);
    }
    for (const { key, name } of there) {
      const button = this.button(key, name);
      const [level, rate, age] = robot ? text.chip(robot, key, this.limits) : ["", "off", ""];
      button.setAttribute("aria-pressed", String(rate !== "off" && level !== "absent"));
      button.dataset.level = level;
      part(button, ".rate").textContent = rate;
      part(button, ".age").textContent = age;
      const other = robot?.others.find((o) => o.name === key);
      if (other) button.style.setProperty("--mark", senses(other) ? `var(--${colorOf(robot?.others ?? [], other)})` : "var(--dim)");
      button.title = level === "absent" ? robot?.device(key).refused?.text ?? "" : other ? `${key}, ${other.driver}` : "";
    }
  }
}
