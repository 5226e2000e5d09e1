// The first program of the Player manual (appendix A): the robot drives around, turns away from the
// nearer obstacle, and stands still while something is close ahead. Ctrl-C stops it.
//
//   node examples/hello.js localhost:6665
//
// A Pioneer starts with its motors off: press its white button.

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";

const { host, port, rounds } = parse(1000);
const robot = new PlayerClient(host, port);
await robot.connect();
robot.setCommandLifetime(500); // ms: if this program hangs, the robot stops
await robot.request({ sonar: "read", position: "write" }); // this can take a few seconds
let round = 0;
for await (const { sonar } of robot) { // ten times a second
  if (++round > rounds) break;
  if (!robot.has("sonar")) continue; // the sonars have not fired yet
  console.log("sonar (mm)", ...sonar);
  // Sonars 0 and 1 look to the left, 6 and 7 to the right.
  const turnrate = sonar[0] + sonar[1] < sonar[6] + sonar[7] ? -20 : 20; // deg/s
  robot.setSpeed(sonar[3] < 500 ? 0 : 100, turnrate); // mm/s
}
await robot.request({ sonar: "close", position: "close" }); // the server stops the wheels, also at the end of the connection
robot.close();
