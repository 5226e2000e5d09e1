// The panel of a servo device: joints with their positions, and sliders for their goals.

import { part } from "./dom.js";
import { Control, channelsOf } from "./io.js";
import { bounds, called, fraction, quantity, stepOf } from "./units.js";
import { rad } from "./wire.js";

/** @import { Channel, Joint } from "../types" */
/** @typedef {{ row: HTMLElement, show(joint: Joint | undefined): void }} Line */

const AROUND = { min: -180000, max: 180000 }; // mdeg: the limits of an angle that has none
const THUMB = 8; // CSS pixels: half of a slider's thumb, which does not reach beyond the slider
const RADIUS = 17; // of the dial, in units of its picture

// stateOf writes what a joint does, and whether that needs a person.
/** @type {(joint: Joint | undefined) => [text: string, level: string]} */
export function stateOf(joint) {
  if (!joint) return ["", ""];
  if (joint.failed) return ["failed", "bad"];
  const words = [joint.power === false && "no power", joint.limit && "at its limit", joint.moving && "moves"].filter(Boolean);
  return [words.join(", "), joint.power === false || joint.limit ? "warn" : ""];
}

// needle returns the point of the dial at an angle in degrees: 0 is up, and positive angles are to the left.
/** @type {(degrees: number, radius?: number) => string} */
const needle = (degrees, radius = RADIUS) => {
  const a = rad(degrees);
  return `${(-Math.sin(a) * radius).toFixed(1)} ${(-Math.cos(a) * radius).toFixed(1)}`;
};

// dialOf returns the path of the angles that a joint can have.
const dialOf = ({ min, max }) => {
  const from = min / 1000, to = max / 1000;
  if (to - from >= 360) return `M0 ${-RADIUS}A${RADIUS} ${RADIUS} 0 1 1 0 ${RADIUS}A${RADIUS} ${RADIUS} 0 1 1 0 ${-RADIUS}`;
  return `M0 0L${needle(from)}A${RADIUS} ${RADIUS} 0 ${to - from > 180 ? 1 : 0} 0 ${needle(to)}Z`;
};

/** @type {(channel: Channel, send: (goal: number) => void) => Line} */
function lineOf(channel, send) {
  const angular = channel.unit === "mdeg", limits = bounds(channel) ?? (angular ? AROUND : null), control = new Control(send);
  const dial = angular && limits ? `<svg viewBox="-21 -21 42 42" class="dial" aria-hidden="true"><path class="range" d="${dialOf(limits)}"/><path class="goal"/><path class="arm"/><circle r="3"/></svg>` : "";
  const field = limits ? `<span class="track"><i class="at" aria-hidden="true"></i><input type="range" min="${limits.min}" max="${limits.max}" step="${stepOf(limits)}" data-needs="write moves"></span>`
    : `<input type="number" step="1" data-needs="write moves">`;
  const row = document.createElement("li");
  row.className = dial ? "joint" : "joint straight";
  row.innerHTML = `${dial}<span class="name"></span><span class="state"></span><output class="number"></output>${field}`;
  const input = /** @type {HTMLInputElement} */ (part(row, "input")), out = part(row, "output"), state = part(row, ".state");
  part(row, ".name").textContent = called(channel);
  input.setAttribute("aria-label", `Goal of ${called(channel)}`);
  out.setAttribute("aria-label", `Position of ${called(channel)}`);
  const aim = (goal) => {
    if (dial) part(row, ".goal").setAttribute("d", Number.isNaN(goal) ? "" : `M${needle(goal / 1000, RADIUS - 4)}L${needle(goal / 1000, RADIUS + 3)}`);
    if (limits) input.setAttribute("aria-valuetext", quantity(goal, channel.unit));
  };
  input.addEventListener(limits ? "input" : "change", () => {
    control.set(Math.round(Number(input.value)));
    aim(control.value);
  });
  return {
    row,
    show(joint) {
      const position = joint?.position ?? NaN, goal = joint?.goal ?? NaN, [text, level] = stateOf(joint);
      out.textContent = quantity(position, channel.unit);
      state.textContent = text;
      state.dataset.level = level;
      if (dial) part(row, ".arm").setAttribute("d", Number.isNaN(position) ? "" : `M0 0L${needle(position / 1000)}`);
      if (limits) {
        part(row, ".at").hidden = Number.isNaN(position);
        part(row, ".at").style.left = `calc(${THUMB}px + ${fraction(position, limits)} * (100% - ${2 * THUMB}px))`;
      }
      const wanted = Number.isNaN(goal) ? position : goal;
      if (!control.rests || document.activeElement === input && document.activeElement.matches(":active, [type=number]")) return;
      if (!Number.isNaN(wanted)) input.value = String(wanted);
      aim(goal);
    },
  };
}

export class ServoPanel {
  /**
   * @param {HTMLElement} body
   * @param {{ move(number: number, goal: number): void, stop(): void, power(on: boolean): void }} orders
   */
  constructor(body, orders) {
    body.innerHTML = `<ul class="joints"></ul><div class="row"><button type="button" class="halt-joints" data-needs="write moves">Stop all joints</button>
      <span class="fill"></span><span>Power</span><span class="switch" role="group" aria-label="Power of the joints"><button type="button" class="on" data-needs="write config">On</button><button type="button" class="off" data-needs="write config">Off</button></span></div>`;
    this.list = part(body, ".joints");
    this.orders = orders;
    this.made = ""; // the joints that have lines, as text
    /** @type {Line[]} */
    this.lines = [];
    this.powers = [{ button: part(body, ".on"), on: true }, { button: part(body, ".off"), on: false }];
    part(body, ".halt-joints").addEventListener("click", () => orders.stop());
    for (const { button, on } of this.powers) button.addEventListener("click", () => orders.power(on));
  }

  // update shows joints. It reports whether it has made other controls.
  /** @type {(joints: Joint[] | undefined, known: Channel[]) => boolean} */
  update(joints, known) {
    const channels = channelsOf(known, joints?.length ?? 0, "joint"), made = JSON.stringify(channels), anew = made !== this.made;
    if (anew) {
      this.made = made;
      this.lines = channels.map((channel) => lineOf(channel, (goal) => this.orders.move(channel.number, goal)));
      this.list.replaceChildren(...this.lines.map(({ row }) => row));
    }
    this.lines.forEach((one, i) => one.show(joints?.[i]));
    const sure = (joints ?? []).filter(({ power }) => power !== undefined);
    for (const { button, on } of this.powers) button.setAttribute("aria-pressed", String(sure.length > 0 && sure.every(({ power }) => power === on)));
    return anew;
  }
}
