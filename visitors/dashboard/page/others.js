// The devices of a robot that have no letters: further ones of an interface, and devices of
// interfaces that the year 2000 had not. A robot says which it has.

import { DEVICES } from "./wire.js";

/** @import { Data, Equipment, Key, Other, Rays } from "../types" */

// KINDS are the interfaces that the page shows, with its names for them.
const KINDS = {
  ranger: "Ranger", imu: "IMU", gps: "GPS", io: "I/O", servo: "Servos", goto: "Go to",
  laser: "Laser", sonar: "Sonar", ptz: "Pan-tilt", vision: "Vision", gripper: "Gripper", misc: "Body",
};

const RANGE = ["laser", "sonar", "ranger"]; // interfaces of range sensors
// WATCHED is how many devices of an interface are watched until the user chooses others: more would
// fill the page, and a slow network.
const WATCHED = 4;

/** @type {(other: { interface: string }) => boolean} */
export const senses = (other) => RANGE.includes(other.interface);

/** @type {(rays: Rays[]) => string[]} */
const points = (rays) => rays.map(({ x_mm, y_mm }) => `${x_mm} ${y_mm}`);

// othersOf returns the devices without letters that the page shows, in the order of the server, and
// whether each is watched at first. A ranger with the readings of a laser or a sonar is left out; one
// that looks from the same places in other directions or steps is not watched at first.
/** @type {(equipment: Equipment) => (Other & { wanted: boolean })[]} */
export function othersOf({ others, rays, channels }) {
  /** @type {Map<string, number>} */
  const counts = new Map(), all = Object.entries(rays);
  for (const { name } of others) counts.set(name.split(":")[0], (counts.get(name.split(":")[0]) ?? 0) + 1);
  /** @type {Map<string, number>} */
  const watched = new Map();
  const list = [];
  for (const { name, driver } of others) {
    const [kind, number] = name.split(":"), own = rays[name] ?? [];
    if (!(kind in KINDS)) continue;
    const twins = kind === "ranger" && own.length ? all.filter(([key]) => !key.startsWith("ranger:")).map(([, of]) => of) : [];
    if (twins.some((twin) => JSON.stringify(twin) === JSON.stringify(own))) continue;
    const again = twins.some((twin) => points(own).every((point) => points(twin).includes(point)));
    const rank = watched.get(kind) ?? 0, wanted = !again && rank < WATCHED;
    if (wanted) watched.set(kind, rank + 1);
    const alone = number === "0" && counts.get(kind) === 1;
    list.push({
      name, interface: kind, index: Number(number), label: alone ? KINDS[kind] : `${KINDS[kind]} ${number}`,
      driver, rays: own, channels: channels[name] ?? [], wanted,
    });
  }
  return list;
}

// listed returns the devices of a robot that have a button: those with letters, then the others.
/** @type {(robot: { others?: Other[] }) => { key: Key, name: string }[]} */
export const listed = ({ others = [] }) => {
  const lettered = DEVICES.map(({ letter, name }) => ({ key: /** @type {Key} */ (letter), name }));
  return [...lettered, ...others.map(({ name, label }) => ({ key: name, name: label }))];
};

// ranging returns the range sensors without letters that have data.
/** @type {(robot: { others?: Other[], data: Data }) => Other[]} */
export const ranging = ({ others = [], data }) => others.filter((other) => senses(other) && data[other.name]);
