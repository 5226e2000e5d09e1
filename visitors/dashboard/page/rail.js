// The list of robots: a card for each, with a small picture of its data.

import { sized } from "./canvas.js";
import { part } from "./dom.js";
import { drawRobot, drawSensors } from "./sensors.js";
import { stateOf } from "./state.js";
import { palette } from "./view.js";

/** @import { Robot } from "./robot.js" */

const REACH = 3; // metres shown to each side of the robot

export class Rail {
  /**
   * @param {HTMLElement} list
   * @param {Record<"select" | "pin" | "stop" | "remove", (robot: Robot) => void>} on acts of the user with a robot
   * @param {(robot: Robot) => { text: string, why: string }} halt the text of a robot's Stop, and why it has no effect
   */
  constructor(list, on, halt) {
    this.list = list;
    this.on = on;
    this.halt = halt;
    /** @type {(robot: Robot) => Robot} */
    this.lens = (robot) => robot; // may return what it was in the past
    /** @type {Map<Robot, HTMLElement>} */
    this.cards = new Map();
    /** @type {Set<Robot>} */
    this.pending = new Set(); // those whose card is redrawn in the next animation frame
  }

  /** @param {Robot} robot */
  add(robot) {
    const card = document.createElement("li");
    card.innerHTML = `<button type="button" class="card"><canvas aria-hidden="true"></canvas>
      <span class="card-text"><b></b><span class="dim address"></span><span class="number status"></span></span></button>
      <button type="button" class="quiet pin"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1.2 8S3.6 3.4 8 3.4 14.8 8 14.8 8 12.4 12.6 8 12.6 1.2 8 1.2 8z" fill="none" stroke="currentColor" stroke-width="1.4"/><circle cx="8" cy="8" r="2.2" fill="currentColor"/></svg></button>
      <button type="button" class="stop halt"></button>`;
    part(card, "b").textContent = robot.name;
    part(card, ".address").textContent = robot.typed ? "" : robot.address;
    part(card, ".card").addEventListener("click", () => this.on.select(robot));
    const pin = part(card, ".pin");
    pin.setAttribute("aria-label", `Watch ${robot.name}`);
    pin.title = "Keep watching while another robot is shown";
    pin.addEventListener("click", () => this.on.pin(robot));
    part(card, ".halt").addEventListener("click", () => this.on.stop(robot));
    if (robot.typed) {
      const remove = document.createElement("button");
      Object.assign(remove, { type: "button", className: "quiet remove", textContent: "×" });
      remove.setAttribute("aria-label", `Remove ${robot.name}`);
      remove.addEventListener("click", () => this.on.remove(robot));
      card.append(remove);
    }
    this.cards.set(robot, card);
    this.list.append(card);
    this.update(robot);
  }

  /** @param {Robot} robot */
  remove(robot) {
    this.cards.get(robot)?.remove();
    this.cards.delete(robot);
  }

  /** @param {Robot | null} shown */
  select(shown) {
    for (const [robot, card] of this.cards) part(card, ".card").setAttribute("aria-pressed", String(robot === shown));
    if (shown) this.cards.get(shown)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  updateAll() {
    for (const [robot, card] of this.cards) this.updateText(card, robot);
  }

  /** @type {(card: HTMLElement, robot: Robot) => void} */
  updateText(card, robot) {
    const { name, text, level } = stateOf(robot);
    part(card, ".status").textContent = text;
    Object.assign(card.dataset, { state: name, level });
    part(card, ".pin").setAttribute("aria-pressed", String(robot.pinned));
    const { text: says, why } = this.halt(robot), halt = /** @type {HTMLButtonElement} */ (part(card, ".halt"));
    Object.assign(halt, { textContent: says, disabled: why !== "", title: why });
    halt.setAttribute("aria-label", `${says} ${robot.name}`);
    halt.setAttribute("aria-pressed", String(says === "Stopped"));
  }

  // update redraws a card in the next animation frame.
  /** @param {Robot} robot */
  update(robot) {
    const card = this.cards.get(robot);
    if (!card || this.pending.has(robot)) return;
    this.pending.add(robot);
    requestAnimationFrame(() => {
      this.pending.delete(robot);
      if (!this.cards.has(robot)) return; // removed meanwhile
      this.updateText(card, robot);
      this.draw(/** @type {HTMLCanvasElement} */ (card.querySelector("canvas")), robot);
    });
  }

  /** @type {(canvas: HTMLCanvasElement, robot: Robot) => void} */
  draw(canvas, robot) {
    const { clientWidth, clientHeight } = canvas, { c, ratio } = sized(canvas);
    if (clientWidth === 0) return;
    robot = this.lens(robot);
    const scale = Math.min(clientWidth, clientHeight) / 2 / REACH;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.setTransform(scale * ratio, 0, 0, -scale * ratio, canvas.width / 2, canvas.height / 2);
    c.rotate(Math.PI / 2);
    c.lineJoin = "round";
    drawSensors(c, robot, palette(), 1 / scale);
    drawRobot(c, robot, palette(), 1 / scale);
  }
}
