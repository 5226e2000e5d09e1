// Values of inputs, outputs and joints as people read them.

/** @import { Channel } from "../types" */

import { UNKNOWN } from "./wire.js";

// Units of PROTOCOL 8.9.7 that are written in another one: its sign, how many of them are one of it,
// and the digits.
/** @type {Record<string, [sign: string, scale: number, digits: number]>} */
const UNITS = {
  mV: [" V", 1000, 2], mA: [" A", 1000, 2], mW: [" W", 1000, 1], mdeg: ["°", 1000, 1], um: [" mm", 1000, 1], percent: [" %", 1, 0], "-": ["", 1, 0],
};

// quantity writes a value in its unit.
/** @type {(value: number, unit: string) => string} */
export function quantity(value, unit) {
  if (Number.isNaN(value)) return "–";
  if (unit === "bit") return value ? "on" : "off";
  const [sign, scale, digits] = UNITS[unit] ?? [` ${unit}`, 1, 0];
  return (value / scale).toFixed(digits) + sign;
}

// bounds returns the limits of a channel, or null if they are not known.
/** @type {(channel: Channel) => { min: number, max: number } | null} */
export const bounds = ({ min, max }) => (min === UNKNOWN || max === UNKNOWN || max <= min ? null : { min, max });

// stepOf returns by how much a key moves a slider: a hundredth of its range or less, a power of ten.
/** @type {(limits: { min: number, max: number }) => number} */
export const stepOf = ({ min, max }) => Math.max(1, 10 ** Math.floor(Math.log10((max - min) / 100)));

// fraction returns where a value is between limits, 0 to 1.
/** @type {(value: number, limits: { min: number, max: number }) => number} */
export const fraction = (value, { min, max }) => Math.max(0, Math.min(1, (value - min) / (max - min)));

// called returns the name of a channel.
/** @type {(channel: Channel) => string} */
export const called = ({ name, role, number }) => name || `${role[0].toUpperCase()}${role.slice(1)} ${number}`;
