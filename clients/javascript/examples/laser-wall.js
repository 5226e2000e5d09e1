// Follows the wall on the right with the laser, at 600 mm. Ctrl-C stops it.
//
//   node examples/laser-wall.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";
import { followWall } from "./steering.js";

const { host, port, rounds } = parse(600);
const robot = new PlayerClient(host, port);
await robot.connect();
await robot.request("lrpw");
for (let i = 0; i < rounds; i++) {
  await robot.read(5000);
  if (robot.has("l")) robot.setSpeed(...followWall(robot.laser));
}
robot.close();
