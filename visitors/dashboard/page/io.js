// The panel of an io device: inputs as lamps and bars, outputs as switches and sliders.

import { part } from "./dom.js";
import { bounds, called, fraction, quantity, stepOf } from "./units.js";

/** @import { Channel, DriveMessage, Values } from "../types" */
/** @typedef {(message: DriveMessage) => void} Send */
/** @typedef {{ row: HTMLElement, show(value: number): void }} Line */

const SEND_PERIOD = 80; // ms between the commands of a slider that is moved
const REST = 2000; // ms after which an untouched control follows the device again

// Control follows a value of a device, except shortly after the user has changed it, and sends what
// the user sets: the newest of it, at most once in SEND_PERIOD.
export class Control {
  /** @param {(value: number) => void} send */
  constructor(send) {
    this.send = send;
    this.touchedAt = -Infinity;
    this.value = NaN;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  get rests() { return performance.now() - this.touchedAt > REST; }

  set(value) {
    this.touchedAt = performance.now();
    this.value = value;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.send(this.value);
    }, SEND_PERIOD);
  }
}

// channelsOf returns what the robot says of the channels of a device, or for lack of that, inputs.
/** @type {(channels: Channel[], count: number, role: Channel["role"]) => Channel[]} */
export function channelsOf(channels, count, role) {
  const unknown = (number) => ({ number, role, unit: "-", min: 0, max: 0, name: "" });
  return Array.from({ length: Math.max(count, ...channels.map((c) => c.number + 1), 0) },
    (_, number) => channels.find((c) => c.number === number) ?? unknown(number));
}

/** @type {(className: string, html: string, channel: Channel) => HTMLElement} */
function line(className, html, channel) {
  const row = document.createElement("li");
  row.className = className;
  row.innerHTML = html;
  part(row, ".name").textContent = row.title = called(channel);
  return row;
}

/** @type {(channel: Channel) => Line} */
function lamp(channel) {
  const row = line("lamp", `<i aria-hidden="true"></i><span class="name"></span><output></output>`, channel), out = part(row, "output");
  out.setAttribute("aria-label", called(channel));
  return {
    row,
    show(value) {
      row.dataset.on = Number.isNaN(value) ? "" : String(value !== 0);
      out.textContent = quantity(value, channel.unit);
    },
  };
}

/** @type {(channel: Channel) => Line} */
function gauge(channel) {
  const limits = bounds(channel), bar = limits ? `<span class="level" aria-hidden="true"><i></i></span>` : "";
  const row = line("gauge", `<span class="name"></span><output class="number"></output>${bar}`, channel), out = part(row, "output");
  out.setAttribute("aria-label", called(channel));
  const filled = limits && part(row, "i");
  if (limits) row.title = `${called(channel)}: ${quantity(limits.min, channel.unit)} to ${quantity(limits.max, channel.unit)}`;
  return {
    row,
    show(value) {
      out.textContent = quantity(value, channel.unit);
      if (filled && limits) filled.style.width = Number.isNaN(value) ? "0" : `${100 * fraction(value, limits)}%`;
    },
  };
}

/** @type {(channel: Channel, send: (value: number) => void) => Line} */
function toggle(channel, send) {
  const row = line("toggle", `<button type="button" role="switch" data-needs="write moves"><i aria-hidden="true"></i><span class="name"></span><output></output></button>`, channel);
  const button = part(row, "button"), out = part(row, "output"), control = new Control(send);
  const show = (value) => {
    button.setAttribute("aria-checked", String(value === 1));
    out.textContent = quantity(value, channel.unit);
  };
  button.addEventListener("click", () => {
    control.set(button.getAttribute("aria-checked") === "true" ? 0 : 1);
    show(control.value);
  });
  return { row, show: (value) => control.rests && show(value) };
}

/** @type {(channel: Channel, send: (value: number) => void) => Line} */
function slider(channel, send) {
  const limits = bounds(channel), control = new Control(send);
  const field = limits ? `<input type="range" min="${limits.min}" max="${limits.max}" step="${stepOf(limits)}" data-needs="write moves">`
    : `<input type="number" step="1" data-needs="write moves">`;
  const row = line("slider", `<span class="name"></span><output class="number"></output>${field}`, channel);
  const input = /** @type {HTMLInputElement} */ (part(row, "input")), out = part(row, "output");
  input.setAttribute("aria-label", limits ? called(channel) : `${called(channel)}, ${channel.unit}`);
  const label = (value) => {
    out.textContent = quantity(value, channel.unit);
    if (limits) input.setAttribute("aria-valuetext", quantity(value, channel.unit));
  };
  input.addEventListener(limits ? "input" : "change", () => {
    control.set(Math.round(Number(input.value)));
    label(control.value);
  });
  return {
    row,
    show(value) {
      if (!control.rests || document.activeElement?.matches(":active, :focus[type=number]") && document.activeElement === input) return;
      if (!Number.isNaN(value)) input.value = String(value);
      label(value);
    },
  };
}

export class IoPanel {
  /**
   * @param {HTMLElement} body
   * @param {(number: number, value: number) => void} send sets an output
   */
  constructor(body, send) {
    this.body = body;
    this.send = send;
    this.made = ""; // the channels that have lines, as text
    /** @type {Line[]} */
    this.lines = [];
  }

  // update shows values. It reports whether it has made other controls.
  /** @type {(values: Values | undefined, known: Channel[]) => boolean} */
  update(values, known) {
    const channels = channelsOf(known, values?.length ?? 0, "input"), made = JSON.stringify(channels);
    const anew = made !== this.made;
    if (anew) {
      this.made = made;
      this.lines = channels.map((channel) => this.line(channel));
      const groups = [];
      for (const [name, role] of [["Inputs", "input"], ["Outputs", "output"]]) {
        const rows = this.lines.filter((_, i) => channels[i].role === role).map(({ row }) => row);
        if (!rows.length) continue;
        const group = Object.assign(document.createElement("ul"), { className: "channels" });
        group.setAttribute("aria-label", name);
        group.append(...rows);
        groups.push(Object.assign(document.createElement("h3"), { textContent: name }), group);
      }
      this.body.replaceChildren(...groups);
    }
    this.lines.forEach((one, i) => one.show(values?.[i] ?? NaN));
    return anew;
  }

  /** @param {Channel} channel */
  line(channel) {
    const send = (value) => this.send(channel.number, value), digital = channel.unit === "bit";
    if (channel.role === "output") return digital ? toggle(channel, send) : slider(channel, send);
    return digital ? lamp(channel) : gauge(channel);
  }
}
