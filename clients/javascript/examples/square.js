// Drives a square of one metre by the odometry, to the left, and ends where it began. It looks at no sensor: give it
// room. Ctrl-C stops it.
//
//   node examples/square.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";
import { Square } from "./steering.js";

const { host, port, rounds } = parse(1200);
const robot = new PlayerClient(host, port);
await robot.connect();
robot.setCommandLifetime(500); // ms: if this program hangs, the robot stops
await robot.request({ position: "all" }); // read the odometry, write the wheels
let square = null, round = 0;
for await (const { position } of robot) {
  square ??= new Square(position);
  robot.setSpeed(...square.steer(position));
  if (square.done || ++round >= rounds) break;
}
console.log(`${square.sides} sides; x ${robot.position.x} mm, y ${robot.position.y} mm, heading ${robot.position.heading} deg`);
robot.close();
