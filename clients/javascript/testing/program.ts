// A program in TypeScript, which types.sh compiles and no test runs: each call with its arguments and its result.

import { DashboardClient } from "../lib/dashboard.js";
import {
  ClosedError, FIX, GotoError, GOTO_STATE, GRIPPER, type IMU, PlayerClient, PlayerError, type Position, RefusedError, Simulation,
} from "../lib/node.js";

const robot = new PlayerClient({ host: "localhost", tls: { ca: "PEM", rejectUnauthorized: true } });
const stop = new AbortController();
await robot.connect({ timeoutMs: 2000, signal: stop.signal });
await new PlayerClient("localhost", 6665).connect("localhost", 6665, 2000);
robot.setCommandLifetime(500);

const granted = await robot.request({ sonar: "read", position: "all", "laser:1": "read", imu: "read", goto: "all" });
const sonarAccess: "read" | "write" | "all" | "close" = granted.sonar;
const pairs: string = await robot.request("srpa", 1000);
// @ts-expect-error: no device was asked for by this name
granted.camera;
// @ts-expect-error: not an access
await robot.request({ sonar: "maybe" });
// @ts-expect-error: seconds are not a member
await robot.read({ seconds: 1 });

robot.addEventListener("round", ({ error }) => error?.message);
for await (const { sonar, lasers, imu, position } of robot) {
  const range: number | undefined = sonar[3] ?? lasers[1]?.[180];
  const yaw: number | null = imu.yawMdeg;
  const place: Position = position;
  robot.setSpeed(range ?? place.speed, yaw ?? 0);
  // @ts-expect-error: a length has a unit
  imu.x;
}
for await (const round of robot.rounds({ timeoutMs: 1000 })) round.setSpeed(0, 0);
await robot.run({ signal: stop.signal });

const second: Uint16Array | null = robot.data("laser:1");
const inertia: IMU | null = robot.data("imu");
const orange: string | undefined = (await robot.colors()).find(({ channel }) => channel === 0)?.color;
robot.setGripper(GRIPPER.gripOpen);
robot.moveJoint("servo", 0, null);

try {
  const there = await robot.goTo({ xMm: 1000, yMm: 0, headingDeg: 90 }, { signal: stop.signal, device: "goto:0" });
  if (there.state !== GOTO_STATE.arrived || !there.arrived) throw new Error(there.why);
} catch (e) {
  if (e instanceof GotoError) e.data?.distanceMm;
  else if (e instanceof RefusedError) e.reasons["goto:0"]?.text;
  else if (e instanceof ClosedError) await robot.reconnect({ timeoutMs: Infinity });
  else if (e instanceof PlayerError && e.kind === "timeout") robot.close();
}

const { movers } = await new Simulation().order({ move: { r0: { x: 1, y: 0, heading: 90 } } }, { timeoutMs: 1000 });
const page = new DashboardClient("ws://localhost:8080");
await page.request({ sonar: "read" });
for await (const { ptz } of page) page.setPTZ(ptz.pan, ptz.tilt, ptz.zoom);

export { FIX, inertia, movers, orange, pairs, second, sonarAccess };
