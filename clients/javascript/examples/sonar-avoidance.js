// Drives around obstacles with the sonars, as in appendix C of the Player manual. Ctrl-C stops it.
//
//   node examples/sonar-avoidance.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";
import { avoid } from "./steering.js";

const { host, port, rounds } = parse(400);
const robot = new PlayerClient(host, port);
await robot.connect();
await robot.request("srpw");
for (let i = 0; i < rounds; i++) {
  await robot.read(5000);
  if (robot.has("s")) robot.setSpeed(...avoid(robot.sonar));
}
robot.close();
