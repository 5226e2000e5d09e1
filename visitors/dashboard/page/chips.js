// The devices of the robot that is shown: a button for each, which subscribes
// and unsubscribes, with the rate and the age of its data. They are folded to one line.

import { $, bindFold, part } from "./dom.js";
import * as text from "./text.js";
import { DEVICES } from "./wire.js";

/** @import { Letter } from "../types" */
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
    this.buttons = DEVICES.map(({ letter, name }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "chip";
      button.dataset.device = letter;
      button.innerHTML = `<b></b><span class="number"><span class="rate"></span><span class="age"></span></span>`;
      part(button, "b").textContent = name;
      button.addEventListener("click", () => this.toggle(letter));
      list.append(button);
      return button;
    });
  }

  toggle(letter) {
    if (!this.robot) return;
    const { wanted, access } = this.robot.device(letter);
    this.robot.want(letter, !wanted || access === "e");
    this.update();
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.robot = robot;
    this.update();
  }

  update() {
    const [worst, line] = this.robot ? text.devices(this.robot, this.limits) : ["", "Devices"];
    $("devices-open").textContent = line;
    $("devices-open").dataset.level = worst;
    for (const button of this.buttons) {
      const letter = /** @type {Letter} */ (button.dataset.device);
      const [level, rate, age] = this.robot ? text.chip(this.robot, letter, this.limits) : ["", "off", ""];
      button.setAttribute("aria-pressed", String(rate !== "off" && level !== "absent"));
      button.dataset.level = level;
      part(button, ".rate").textContent = rate;
      part(button, ".age").textContent = age;
      button.title = level === "absent" ? this.robot?.device(letter).refused?.text ?? "" : "";
    }
  }
}
