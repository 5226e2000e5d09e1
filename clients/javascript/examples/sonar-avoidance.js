// Drives around obstacles with the sonars, as in appendix C of the Player manual. Ctrl-C stops it.
//
//   node examples/sonar-avoidance.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";
import { avoid } from "./steering.js";

const { host, port, rounds } = parse(400);
const robot = new PlayerClient(host, port);
await robot.connect();
robot.setCommandLifetime(500); // ms: if this program hangs, the robot stops
await robot.request({ sonar: "read", position: "write" });
let round = 0;
for await (const { sonar } of robot) {
  if (robot.has("sonar")) robot.setSpeed(...avoid(sonar));
  if (++round >= rounds) break;
}
robot.close();
