// Follows the wall on the right with the laser, at 600 mm. Ctrl-C stops it.
//
//   node examples/laser-wall.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";
import { followWall } from "./steering.js";

const { host, port, rounds } = parse(600);
const robot = new PlayerClient(host, port);
await robot.connect();
robot.setCommandLifetime(500); // ms: if this program hangs, the robot stops
await robot.request({ laser: "read", position: "write" });
let round = 0;
for await (const { laser } of robot) {
  if (robot.has("laser")) robot.setSpeed(...followWall(laser));
  if (++round >= rounds) break;
}
robot.close();
