// A program with a DashboardClient: it drives until the robot has moved, and prints OK.
//
//   node --experimental-websocket testing/dashboard-program.js ws://localhost:9000 localhost:6665

import { DashboardClient } from "../lib/dashboard.js";

const [dashboard, address] = process.argv.slice(2);
const robot = new DashboardClient(dashboard, address);
await robot.connect();
await robot.request("prsrlr");
const rounds = { p: 0, s: 0, l: 0 };
for (let start = null; ; ) {
  await robot.read(20_000);
  for (const device of robot.new) rounds[device]++;
  if (!robot.has("p")) continue;
  start ??= robot.position;
  robot.setSpeed(0, 40);
  if (robot.held === "p" && robot.position.heading !== start.heading && rounds.s > 0 && rounds.l > 0) break;
}
if (robot.ageUs("p") === null || robot.laser[180] === 0) throw new Error("no age or no data");
robot.close();
console.log("OK");
