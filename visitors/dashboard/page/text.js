// Data as the dashboard writes it.

import { degrees } from "./geometry.js";
import { listed } from "./others.js";
import { fieldOfView } from "./pioneer.js";
import { DEVICES, PAGE } from "./wire.js";

/** @import { Client, Data, Goal, Group, Key, Refusal, RobotPresence, Visitor } from "../types" */
/** @import { Robot } from "./robot.js" */

// side writes an angle in degrees and its direction.
export const side = (deg, plus, minus) => (deg === 0 ? "0°" : `${Math.abs(deg)}° ${deg > 0 ? plus : minus}`);

const direction = (rad) => {
  const deg = Math.round(degrees(rad));
  return deg === 0 ? "ahead" : side(deg, "left", "right");
};

/** @param {Data["p"]} p */
export const pose = (p) => (p ? `${p.x.toFixed(2)} m, ${p.y.toFixed(2)} m, ${degrees(p.heading).toFixed(0)}°` : "–");
/** @param {Data["p"]} p */
export const velocity = (p) => (p ? `${(p.speed * 1000).toFixed(0)} mm/s, ${degrees(p.turn).toFixed(0)} °/s` : "–");
export const distance = (near) => (near ? `${near.distance.toFixed(2)} m, ${direction(near.angle)}` : "–");

// ranges writes how many readings a range sensor has, and which is the nearest. known: where they look is.
/** @type {(count: number, known: boolean, near: { distance: number, angle: number } | null) => string} */
export const ranges = (count, known, near) => {
  const readings = `${count} reading${count === 1 ? "" : "s"}`;
  return known ? `${readings} · ${near ? distance(near) : "nothing near"}` : `${readings}, directions unknown`;
};

/** @param {Robot} robot */
export const robotError = (robot) => (robot.state === "lost" ? `${robot.address}: ${robot.reason}` : "");

// robots writes the list of robots in one line: the one that is shown, its state, and how many
// there are.
/** @type {(robot: Robot, state: string, count: number) => string} */
export const robots = ({ name }, state, count) => `${name}: ${state}${count > 1 ? ` · ${count} robots` : ""}`;

// silence writes how long nothing has come from a robot, if that is longer than dead
// seconds, and not because its world stands still.
/** @type {(robot: Robot, standing: boolean, dead: number) => string} */
export function silence(robot, standing, dead) {
  if (robot.state !== "live") return robot.retry ? robot.state : ""; // at first there is nothing old
  const seconds = robot.silence();
  return !standing && seconds > dead ? `Nothing has come for ${seconds.toFixed(0)} s: this is old.` : "";
}

// traffic writes what comes from a robot: frames, bytes, and how many rounds of
// data were merged into later ones.
/** @param {Robot} robot */
export function traffic({ state, gone, frames, bytes, dropped }) {
  if (state !== "live" || gone) return "";
  return `${frames.rate().toFixed(1)} frames/s · ${(bytes.rate() / 1000).toFixed(1)} kB/s · ${dropped} rounds dropped`;
}

// unheard writes since when nothing has been heard from the server: heard is a Date, or
// null.
/** @param {Date | null} heard */
export const unheard = (heard) => {
  if (!heard) return "The server does not answer.";
  return `Nothing has been heard from the server since ${heard.toLocaleTimeString("en-GB")}.`;
};

const GOALS = ["no goal", "drives", "arrived", "sees no way", "given up"];
// GIVEN_UP are the reasons (PROTOCOL 7.14).
const GIVEN_UP = ["", "its client left it", "the wheels got another command", "emergency stop", "it sees nothing", "no odometry", "found no way", "out of reach", "motors off"];

// goal writes what a goto device does.
/** @param {Goal | undefined} goal */
export function goal(goal) {
  if (!goal) return "";
  const more = goal.state === 4 ? GIVEN_UP[goal.reason] : goal.state % 2 && goal.distance >= 0 && `${goal.distance.toFixed(1)} m left`;
  return GOALS[goal.state] + (more ? `: ${more}` : "");
}

// drive writes what the driver does, or why it stopped.
/** @param {{ note: string, moving: boolean, sent: [speed: number, turn: number], vain: boolean, order?: object | null }} driver */
export function drive({ note, moving, sent: [speed, turn], vain, order }) {
  if (note) return note;
  if (!moving) return order ? "to the goal" : "hands off";
  return vain ? "no effect" : `${speed} mm/s · ${turn} °/s`;
}

const times = (rate) => (rate === 1 ? "once a second" : `${rate} times a second`);

// group joins the connections of each browser, and finds the connections of this page: self.
/** @type {(clients: Client[]) => Group[]} */
export function group(clients) {
  /** @type {Map<string, Group>} */
  const joined = new Map();
  for (const c of clients) {
    const [, browser, page] = /^browser (\S+) ?(\S*)$/.exec(c.name) ?? [];
    const key = browser ? c.name : c.address, known = joined.get(key);
    const ip = browser ?? c.address.replace(/:\d+$/, "");
    if (!known) {
      joined.set(key, { ...c, ip, browser: Boolean(browser), self: page === PAGE });
      continue;
    }
    known.devices = { ...known.devices, ...c.devices };
    known.commander ||= c.commander;
    known.commands += c.commands;
    known.frames = Math.max(known.frames, c.frames);
  }
  return [...joined.values()];
}

/** @param {Group} client */
const who = ({ self, browser, ip, name }) => {
  if (self) return "You";
  return browser ? `A browser at ${ip}` : name ? `${ip} (${name})` : ip;
};

// role says in two words, for programs, what the commander does and its relation to this page.
/** @type {(here: RobotPresence | undefined, clients: Group[]) => string} */
export function role(here, clients) {
  const one = clients.find((c) => c.commander), other = clients.find((c) => c !== one && c.commands > 0);
  if (!here || !one) return here ? "nobody" : "unknown";
  const does = one.commands === 0 ? "last" : other && here.control === "newest" ? "both" : "alone";
  return `${does} ${one.self ? "you" : one.browser ? "browser" : "program"}`;
}

// commander writes which client drives a robot. here is undefined if that is not known. keeps:
// the commander keeps control from this page.
/** @type {(here: RobotPresence | undefined, clients: Group[], lost: boolean, keeps: boolean) => string} */
export function commander(here, clients, lost, keeps) {
  if (!here) return lost ? "Who drives is not known." : "Another server has this robot: who drives is not known.";
  const one = clients.find((c) => c.commander), other = clients.find((c) => c !== one && c.commands > 0);
  if (!one) return "Nobody drives.";
  const name = who(one);
  if (one.commands === 0) return `${name} commanded last.`;
  const pause = keeps && !one.self ? " Until it pauses for a second, you cannot." : "";
  const disputed = other && here.control === "newest";
  const both = disputed ? ` ${who(other)} ${other.self ? "command" : "commands"}, too: the robot follows both in turn.` : "";
  return `${name} ${one.self ? "command" : "commands"}, ${times(one.commands)}.${pause}${both}`;
}

// client writes a client of the list: its name, its activity, and its devices.
/** @param {Group} c */
export function client(c) {
  const commands = c.commands > 0 ? `commands ${c.commands}/s` : c.commander ? "commanded last" : "";
  const reads = c.frames > 0 ? `reads ${c.frames}/s` : "connected";
  const devices = Object.entries(c.devices).map(([letter, access]) => {
    const name = DEVICES.find((d) => d.letter === letter)?.name.toLowerCase() ?? letter;
    return `${name}: ${{ r: "reads", w: "commands", a: "reads and commands" }[access]}`;
  });
  return [who(c), (commands || reads) + (c.paced ? ", slow link" : ""), devices.join("\n")];
}

// stopped writes which robots are stopped.
/** @param {Robot[]} robots */
export function stopped(robots) {
  if (robots.length === 0) return "";
  const names = robots.length > 4 ? `${robots.length} robots` : robots.map((r) => r.name).join(", ");
  const [are, them] = robots.length > 1 ? ["are", "them"] : ["is", "it"];
  return `${names} ${are} stopped: no command moves ${them} until the release.`;
}

// forbidden writes why this computer may not do something.
/** @type {(visitor: Visitor, need: string) => string} */
export const forbidden = ({ you, may }, need) => {
  const limit = may === "read" ? "only watch" : `not ${{ write: "command", config: "configure" }[need]}`;
  return `This computer (${you}) may ${limit}: the owner of the robot gives rights.`;
};

// simulation writes the simulated time.
export const simulation = ({ time, finished }) => `${time.toFixed(1)} s${finished ? " · finished" : ""}`;

// refused returns why a device is not open, in two words.
const REFUSED = { right: "no right", hardware: "not working", used: "in use", off: "switched off", ring: "in a ring" };
/** @param {{ refused?: Refusal }} device */
export const refused = ({ refused }) => (refused && REFUSED[refused.why]) ?? "not there";

// chip returns what the chip of a device shows: a level of style.css and two
// texts. Data older than old seconds is worth a warning, older than dead an
// alarm.
/**
 * @param {Robot} robot
 * @param {Key} key
 * @param {{ old: number, dead: number }} limits
 * @returns {[level: string, rate: string, age: string]}
 */
export function chip(robot, key, { old, dead }) {
  const device = robot.device(key);
  const { wanted, access, meter } = device;
  if (!wanted || robot.state === "off") return ["", "off", ""];
  if (access === "e") return ["absent", refused(device), ""];
  if (robot.state === "lost" || robot.gone) return ["bad", "lost", ""];
  if (access !== "r") return ["", "starting", ""];
  if (!robot.data[key]) return ["warn", "no data yet", ""];
  const age = meter.age(), rate = meter.rate();
  const level = age > dead ? "bad" : age > old ? "warn" : "good";
  const written = age < 1 ? `${(age * 1000).toFixed(0)} ms` : `${age.toFixed(1)} s`;
  return [level, `${rate.toFixed(rate < 9.95 ? 1 : 0)} Hz`, written];
}

// devices writes the chips of a robot in one line: how many devices are healthy, and the faults of
// the others.
/** @type {(robot: Robot, limits: { old: number, dead: number }) => [level: string, text: string]} */
export function devices(robot, limits) {
  if (robot.state === "off") return ["", "Devices"];
  if (robot.state === "lost" || robot.gone) return ["bad", "no devices"];
  let rate = 0, age = 0, well = 0, worst = "";
  /** @type {Map<string, string[]>} */
  const others = new Map(); // names, by the text about them
  const say = (what, name) => others.set(what, [...(others.get(what) ?? []), name.toLowerCase()]);
  for (const { key, name } of listed(robot)) {
    const device = robot.device(key), [level, state, old] = chip(robot, key, limits);
    if (level === "good") {
      well++;
      rate = Math.max(rate, device.meter.rate());
      age = Math.max(age, device.meter.age());
    } else if (level === "bad" || level === "warn") {
      say(old ? `${old} old` : state, name);
      if (worst !== "bad") worst = level;
    } else if (device.wanted && device.refused && !["missing", "off"].includes(device.refused.why)) {
      say(state, name);
    }
  }
  const normal = well && `${well} device${well === 1 ? "" : "s"}, ${rate.toFixed(0)} Hz, ${(age * 1000).toFixed(0)} ms old`;
  const named = [...others].map(([what, names]) => `${names.length > 2 ? `${names.length} devices` : names.join(", ")}: ${what}`);
  return [worst, [normal, ...named].filter(Boolean).join(" · ") || "Devices"];
}

/** @param {Data["v"]} blobs */
export const blobCount = (blobs) => (blobs ? `${blobs.length || "no"} blob${blobs.length === 1 ? "" : "s"}` : "");
/** @param {number} seconds */
export const pictureAge = (seconds) => `${seconds < 10 ? seconds.toFixed(1) : seconds.toFixed(0)} s old`;
/** @param {Data["z"]} z */
export const ptz = (z) => {
  if (!z) return "";
  return `${side(z.pan, "L", "R")} · ${side(z.tilt, "up", "dn")} · ${degrees(fieldOfView(z.zoom)).toFixed(0)}° wide`;
};

// Bits of the gripper's state (PROTOCOL 7), the most important first.
const PADDLES = [[4, "moving"], [8, "error"], [1, "open"], [2, "closed"]];
const LIFT = [[64, "moving"], [128, "error"], [16, "up"], [32, "down"]];
const word = (bits, table) => table.find(([bit]) => bits & bit)?.[1] ?? "between";

/** @param {Data["g"]} g */
export function gripper(g) {
  if (!g) return "";
  const beams = g.beams & 8 ? "holds something" : g.beams & 4 ? "something between" : "";
  return [`paddles ${word(g.state, PADDLES)}`, `lift ${word(g.state, LIFT)}`, beams].filter(Boolean).join(" · ");
}

/** @param {Data["m"]} m */
export const volts = (m) => (m ? `${m.volts.toFixed(1)} V` : "–");

const count = (bits) => [0, 1, 2, 3, 4].filter((i) => (bits >> i) & 1).length;

// body writes pressed bumpers and stalled wheels. alarm reports whether there are
// any.
/** @param {Data} data */
export function body({ m, p }) {
  /** @type {[bits: number, end: string][]} */
  const ends = m ? [[m.front, "front"], [m.rear, "rear"]] : [];
  const pressed = ends.filter(([bits]) => bits).map(([bits, end]) => `${count(bits)} ${end}`);
  const bumpers = pressed.length ? `bumpers: ${pressed.join(", ")}` : m ? "bumpers clear" : "";
  const wheels = p?.stall ? "wheels stalled" : "";
  return { text: [bumpers, wheels].filter(Boolean).join(" · "), alarm: pressed.length > 0 || wheels !== "" };
}
