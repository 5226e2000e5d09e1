// The state of a robot: one order of importance, for the list, the heading, the
// map and the search.

/** @import { Robot } from "./robot.js" */

const LOW = 11.3; // volts of an empty battery
const SILENT = 2; // seconds without data after which a robot is no longer said to be live

// RANKS are the names of the states, the most urgent first; states of one rank are equally urgent.
const RANKS = [["gone", "stopped"], ["lost", "trouble"], ["live", "silent", "connecting", "used"], ["off"]];
const LEVELS = { stopped: "bad", lost: "bad", trouble: "bad", live: "good" };

const called = (name, text) => {
  return { name, text, level: LEVELS[name] ?? "", rank: RANKS.findIndex((names) => names.includes(name)) };
};

// stateOf returns the state of a robot: its name, its text for people, its level in
// style.css, and its rank, 0 is the most urgent. The state is
// unknown if the robot's server is gone; for a robot of another server (here is false), while
// its stream is lost.
// A stopped robot is that before everything else.
/** @param {Robot} robot */
export function stateOf(robot) {
  const { state, gone, here, stopped, trouble, used, data: { m, p } } = robot;
  const now = [
    stopped && "stopped", state === "lost" && "lost", ...trouble, p?.stall && "wheels stalled",
    m && (m.front || m.rear) && "bumpers pressed", m && m.volts < LOW && `battery ${m.volts.toFixed(1)} V`,
  ].filter(Boolean).join(" · ");
  const was = stopped ? ", was stopped" : "";
  if (gone) return called("gone", `no connection${was}`);
  if (!here && state === "lost") return called("lost", `lost${was}`);
  if (stopped) return called("stopped", now);
  if (now) return called(state === "lost" ? "lost" : "trouble", now);
  if (state === "live" && robot.silence() > SILENT) return called("silent", "no data");
  const volts = m ? ` · ${m.volts.toFixed(1)} V` : "";
  if (state === "live") return called("live", `${robot.frames.rate().toFixed(0)} Hz${volts}`);
  if (state === "connecting") return called("connecting", "connecting");
  return used ? called("used", "in use") : called("off", here ? "idle" : "not watched");
}
