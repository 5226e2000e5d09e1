// The devices of the robot that is shown: a button for each, which subscribes
// and unsubscribes, with the rate and the age of its data.

import * as text from "./text.js";
import { DEVICES } from "./wire.js";

export class Chips {
  constructor(list, limits) {
    this.limits = limits;
    this.buttons = DEVICES.map(({ letter, name }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "chip";
      button.dataset.device = letter;
      button.innerHTML = `<b></b><span class="number"><span class="rate"></span><span class="age"></span></span>`;
      button.querySelector("b").textContent = name;
      button.addEventListener("click", () => this.toggle(letter));
      list.append(button);
      return button;
    });
  }

  toggle(letter) {
    if (!this.robot) return;
    const { wanted, access } = this.robot.devices.get(letter);
    this.robot.want(letter, !wanted || access === "e");
    this.update();
  }

  show(robot) {
    this.robot = robot;
    this.update();
  }

  update() {
    for (const button of this.buttons) {
      const [level, rate, age] = this.robot ? text.chip(this.robot, button.dataset.device, this.limits) : ["", "off", ""];
      button.setAttribute("aria-pressed", rate !== "off" && level !== "absent");
      button.dataset.level = level;
      button.querySelector(".rate").textContent = rate;
      button.querySelector(".age").textContent = age;
      button.title = level === "absent" ? this.robot.devices.get(button.dataset.device).refused?.text ?? "" : "";
    }
  }
}
