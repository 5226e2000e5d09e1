// The devices of the robot that is shown: what is subscribed, how often it
// comes and how old it is.

import { DEVICES } from "./wire.js";

export class Chips {
  constructor(list, { old, dead }) {
    Object.assign(this, { list, old, dead });
    this.buttons = DEVICES.map(({ letter, name }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "chip";
      button.dataset.device = letter;
      button.innerHTML = `<b></b><span class="number"><span class="rate"></span><span class="age"></span></span>`;
      button.querySelector("b").textContent = name;
      button.addEventListener("click", () => {
        const d = this.robot?.devices.get(letter);
        if (d) this.robot.want(letter, !d.wanted || d.access === "e");
        this.update();
      });
      list.append(button);
      return button;
    });
  }

  show(robot) {
    this.robot = robot;
    this.update();
  }

  update() {
    for (const button of this.buttons) {
      const { device } = button.dataset, d = this.robot?.devices.get(device);
      const on = Boolean(d?.wanted && this.robot.state !== "off");
      const [level, text, more = ""] = on ? this.tell(device, d) : ["", "off"];
      button.setAttribute("aria-pressed", on && d.access !== "e");
      button.dataset.level = level;
      button.querySelector(".rate").textContent = text;
      button.querySelector(".age").textContent = more;
    }
  }

  // tell says how a device is, and how bad that is.
  tell(letter, d) {
    if (d.access === "e") return ["absent", "not there"];
    if (this.robot.state === "lost") return ["bad", "lost"];
    if (d.access !== "r") return ["", "starting"];
    if (!this.robot.data[letter]) return ["warn", "no data yet"];
    const age = d.meter.age();
    const level = age > this.dead ? "bad" : age > this.old ? "warn" : "good";
    const rate = d.meter.rate();
    return [level, `${rate.toFixed(rate < 9.95 ? 1 : 0)} Hz`, age < 1 ? `${(age * 1000).toFixed(0)} ms` : `${age.toFixed(1)} s`];
  }
}
