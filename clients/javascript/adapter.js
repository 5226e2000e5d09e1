// The adapter of the conformance suite: one JSON request per line on standard input, one answer per
// line on standard output (docs/CLIENTS.md).

import { readFileSync } from "node:fs";
import readline from "node:readline";
import { PlayerClient, PlayerError, Simulation } from "./lib/node.js";

const data = {
  p: (r) => r.position,
  s: (r) => ({ ranges: [...r.sonar] }),
  l: (r) => ({ ranges: [...r.laser] }),
  m: (r) => ({ front: r.misc.frontBumpers, rear: r.misc.rearBumpers, battery: r.misc.battery, voltage: r.misc.voltage }),
  g: (r) => ({ state: r.gripper.state, beams: r.gripper.beams }),
  z: (r) => r.ptz,
  v: (r) => ({ channels: r.vision.channels.map((blobs, color) => blobs.map((blob) => ({ color, ...blob }))) }),
  j: (r) => ({ buttons: r.joystick.buttons, axes: [...r.joystick.axes] }),
  y: (r) => ({ time: r.freshness.time, ages: [...r.freshness.ages] }),
};

const commands = { p: "setSpeed", z: "setPTZ", g: "setGripper" };

const configurations = {
  frequency: "setFrequency", lifetime: "setCommandLifetime", mode: "setDataMode", data: "requestData", fresh: "setFresh",
  motors: "changeMotorState", velocity: "changeVelocityControl", reset_odometry: "resetPosition",
  name: "setName", stop: "emergencyStop",
};

const robot = new PlayerClient();

function tlsOf(r) {
  const read = (file) => file && readFileSync(file);
  return r.authority ? { ca: read(r.authority), cert: read(r.certificate), key: read(r.key), servername: r.server } : null;
}

const operations = {
  connect(r) {
    robot.tls = tlsOf(r);
    return robot.connect(r.host, r.port, r.timeout_ms);
  },
  reconnect: (r) => robot.reconnect(r.timeout_ms),
  request: async (r) => ({ granted: await robot.request(r.pairs, r.timeout_ms) }),
  geometry: async (r) => ({ parts: (await robot.geometry(r.timeout_ms)).map(Object.values) }),
  async read(r) {
    await robot.read(r.timeout_ms);
    return { new: robot.new };
  },
  get: ({ device }) => ({
    size: robot.raw(device)?.length ?? 0,
    data: robot.has(device) ? data[device]?.(robot) ?? {} : null,
    age_us: robot.ageUs(device),
  }),
  command: (r) => robot[commands[r.device]](...r.values),
  config: (r) => robot[configurations[r.name]](r.text ?? r.value),
  async simulation(r) {
    const world = new Simulation(r.host, r.port, tlsOf(r));
    if (!r.order) return { state: await world.state(r.timeout_ms) };
    const move = r.order.move && Object.fromEntries(r.order.move.map(({ name, ...pose }) => [name, pose]));
    return { state: await world.order({ ...r.order, move }, r.timeout_ms) };
  },
  close: () => robot.close(),
};

// why returns the reasons of an error in one text each.
const why = (e) => e.reasons && Object.fromEntries(Object.entries(e.reasons).map(([device, r]) => [device, `${r.why} ${r.text}`]));

async function answer(line) {
  try {
    const request = JSON.parse(line);
    return { ok: true, ...(await operations[request.op](request)) };
  } catch (e) {
    const kind = e instanceof PlayerError ? e.kind : "usage";
    return { ok: false, error: kind, text: e.message, granted: e.granted, why: why(e) };
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(line)) + "\n");
}
robot.close();
