// Writes a run of the robot into a table: where it is and how near things are, while other programs drive it. Ctrl-C
// ends it. `player record` writes everything that the robot sends (docs/LOGS.md).
//
//   node examples/log-run.js localhost:6665 > run.csv

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";

const { host, port, rounds } = parse(600);
const robot = new PlayerClient(host, port);
await robot.connect();
await robot.request({ position: "read", sonar: "read" }); // it reads only: the robot does what others command
console.log("time_ms,x_mm,y_mm,heading_deg,speed_mm_per_s,nearest_mm");
let round = 0;
for await (const { position: p, sonar } of robot) {
  const fired = sonar.filter((mm) => mm > 0);
  console.log([p.time, p.x, p.y, p.heading, p.speed, fired.length > 0 ? Math.min(...fired) : ""].join(","));
  if (++round >= rounds) break;
}
robot.close();
