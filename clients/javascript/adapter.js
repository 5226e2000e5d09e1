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

// Devices without letters, and further lasers, by interface. The protocol has numbers for unknown values.
const number = (value, unknown = -(2 ** 31)) => value ?? unknown;
const interfaces = {
  laser: (ranges) => ({ ranges: [...ranges] }),
  ranger: (d) => ({ unit_mm: d.unitMm, ranges: [...d.ranges] }),
  imu: (d) => ({
    roll_mdeg: number(d.rollMdeg), pitch_mdeg: number(d.pitchMdeg), yaw_mdeg: number(d.yawMdeg),
    roll_rate_mdeg_per_s: number(d.rollRateMdegPerS), pitch_rate_mdeg_per_s: number(d.pitchRateMdegPerS),
    yaw_rate_mdeg_per_s: number(d.yawRateMdegPerS),
    x_mm_per_s2: number(d.xMmPerS2), y_mm_per_s2: number(d.yMmPerS2), z_mm_per_s2: number(d.zMmPerS2),
  }),
  gps: (d) => ({
    fix: number(d.fix, 255), satellites: number(d.satellites, 255), latitude_e7: number(d.latitudeE7),
    longitude_e7: number(d.longitudeE7), height_mm: number(d.heightMm),
    horizontal_mm: number(d.horizontalMm, 0xffffffff), vertical_mm: number(d.verticalMm, 0xffffffff),
    time_ms: number(d.timeMs, 0), speed_mm_per_s: number(d.speedMmPerS, 0xffffffff),
    course_mdeg: number(d.courseMdeg, 0xffffffff),
  }),
  io: (d) => ({ values: d.values.map((value) => number(value)) }),
  servo: (d) => ({
    joints: d.joints.map(({ position, goal, state }) => ({ position: number(position), goal: number(goal), state })),
  }),
  goto: (d) => ({
    state: d.state, reason: d.reason, tag: d.tag, x_mm: number(d.xMm), y_mm: number(d.yMm),
    heading_deg: number(d.headingDeg, ANY_HEADING), distance_mm: number(d.distanceMm, 0xffffffff),
  }),
};
const ANY_HEADING = 0xffff;
const interfaceOf = (device) => device.split(":")[0];

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
  get(r) {
    const decoded = () => interfaces[interfaceOf(r.device)]?.(robot.data(r.device)) ?? data[r.device]?.(robot) ?? {};
    const size = robot.raw(r.device)?.length ?? 0;
    return { size, data: robot.has(r.device) ? decoded() : null, age_us: robot.ageUs(r.device) };
  },
  command({ device, values }) {
    const [channel, goal, speed] = values;
    switch (interfaceOf(device)) {
      case "io": return robot.setOutput(device, channel, goal);
      case "servo": return robot.moveJoint(device, channel, goal === -(2 ** 31) ? null : goal, speed);
      case "goto": return goTo(device, ...values);
      default: return robot[commands[device]](...values);
    }
  },
  devices: async (r) => ({ devices: (await robot.devices(r.timeout_ms)).map((d) => [d.name, d.code.charCodeAt(0)]) }),
  open: async (r) => ({ code: (await robot.open(r.name, r.access, r.timeout_ms)).charCodeAt(0) }),
  async rays(r) {
    return { rays: (await robot.rays(r.timeout_ms)).map((rays) => Object.values(rays).map((value) => value ?? 0)) };
  },
  async channels(r) {
    const row = (c) => [c.device, c.number, c.role, c.unit ?? "-", number(c.min), number(c.max), c.name];
    return { channels: (await robot.channels(r.timeout_ms)).map(row) };
  },
  async colors(r) {
    const row = (c) => [c.device, c.channel, parseInt(c.color.slice(1), 16)];
    return { colors: (await robot.colors(r.timeout_ms)).map(row) };
  },
  config: (r) => robot[configurations[r.name]](r.text ?? r.value),
  async simulation(r) {
    const world = new Simulation(r.host, r.port, tlsOf(r));
    if (!r.order) return { state: await world.state(r.timeout_ms) };
    const move = r.order.move && Object.fromEntries(r.order.move.map(({ name, ...pose }) => [name, pose]));
    return { state: await world.order({ ...r.order, move }, r.timeout_ms) };
  },
  close: () => robot.close(),
};

// goTo gives a goal, or has the device give it up.
function goTo(device, xMm, yMm, heading, speedMmPerS, turnRateDegPerS, toleranceMm, radiusMm, tag) {
  if (xMm === -(2 ** 31)) return robot.stopGoal(device);
  const headingDeg = heading === ANY_HEADING ? null : heading;
  return robot.setGoal({ xMm, yMm, headingDeg, speedMmPerS, turnRateDegPerS, toleranceMm, radiusMm, tag }, device);
}

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
