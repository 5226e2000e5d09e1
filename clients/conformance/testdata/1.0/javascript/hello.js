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
await robot.request("srpw"); // sonar read, position write; this can take a few seconds
for (let i = 0; i < rounds; i++) {
  await robot.read(5000);
  if (!robot.has("s")) continue; // the sonars have not fired yet
  const sonar = robot.sonar;
  console.log("sonar (mm)", ...sonar);
  // Sonars 0 and 1 look to the left, 6 and 7 to the right.
  const turnrate = sonar[0] + sonar[1] < sonar[6] + sonar[7] ? -20 : 20; // deg/s
  robot.setSpeed(sonar[3] < 500 ? 0 : 100, turnrate); // mm/s
}
await robot.request("scpc"); // the server stops the wheels, also at the end of the connection
robot.close();
