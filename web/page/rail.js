// The list of robots: a card for each, with a small picture of what it senses.

import { drawRobot, drawSensors } from "./sensors.js";
import { stateOf } from "./state.js";
import { palette } from "./view.js";

const REACH = 3; // metres shown to each side of the robot

export class Rail {
  constructor(list, { select, pin, remove }) {
    Object.assign(this, { list, onSelect: select, onPin: pin, onRemove: remove });
    this.lens = (robot) => robot; // may return what it was in the past
    this.cards = new Map();
  }

  add(robot) {
    const card = document.createElement("li");
    card.innerHTML = `<button type="button" class="card"><canvas aria-hidden="true"></canvas>
      <span class="card-text"><b></b><span class="dim address"></span><span class="number status"></span></span></button>
      <button type="button" class="quiet pin"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1.2 8S3.6 3.4 8 3.4 14.8 8 14.8 8 12.4 12.6 8 12.6 1.2 8 1.2 8z" fill="none" stroke="currentColor" stroke-width="1.4"/><circle cx="8" cy="8" r="2.2" fill="currentColor"/></svg></button>`;
    card.querySelector("b").textContent = robot.name;
    card.querySelector(".address").textContent = robot.typed ? "" : robot.address;
    card.querySelector(".card").addEventListener("click", () => this.onSelect(robot));
    const pin = card.querySelector(".pin");
    pin.setAttribute("aria-label", `Watch ${robot.name}`);
    pin.title = "Keep watching while another robot is shown";
    pin.addEventListener("click", () => this.onPin(robot));
    if (robot.typed) {
      const remove = document.createElement("button");
      Object.assign(remove, { type: "button", className: "quiet remove", textContent: "×" });
      remove.setAttribute("aria-label", `Remove ${robot.name}`);
      remove.addEventListener("click", () => this.onRemove(robot));
      card.append(remove);
    }
    this.cards.set(robot, card);
    this.list.append(card);
    this.update(robot);
  }

  remove(robot) {
    this.cards.get(robot).remove();
    this.cards.delete(robot);
  }

  select(shown) {
    for (const [robot, card] of this.cards) card.querySelector(".card").setAttribute("aria-pressed", robot === shown);
    this.cards.get(shown)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  updateAll() {
    for (const robot of this.cards.keys()) this.updateText(robot);
  }

  updateText(robot) {
    const card = this.cards.get(robot), { name, text, level } = stateOf(robot);
    card.querySelector(".status").textContent = text;
    Object.assign(card.dataset, { state: name, level });
    card.querySelector(".pin").setAttribute("aria-pressed", robot.pinned);
  }

  // update redraws a card in the next animation frame.
  update(robot) {
    const card = this.cards.get(robot);
    if (!card || card.pending) return;
    card.pending = requestAnimationFrame(() => {
      card.pending = 0;
      if (!this.cards.has(robot)) return; // removed meanwhile
      this.updateText(robot);
      this.draw(card.querySelector("canvas"), robot);
    });
  }

  draw(canvas, robot) {
    const ratio = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas, c = canvas.getContext("2d");
    if (width === 0) return;
    robot = this.lens(robot);
    if (canvas.width !== Math.round(width * ratio)) Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const scale = Math.min(width, height) / 2 / REACH;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.setTransform(scale * ratio, 0, 0, -scale * ratio, canvas.width / 2, canvas.height / 2);
    c.rotate(Math.PI / 2);
    c.lineJoin = "round";
    drawSensors(c, robot, palette(), 1 / scale);
    drawRobot(c, robot, palette(), 1 / scale);
  }
}
