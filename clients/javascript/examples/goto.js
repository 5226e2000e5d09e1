// Drives to a point, in metres from where the robot started, around obstacles: the server's goto device plans the way, so
// start the server with -goto. Ctrl-C stops the robot.
//
//   node examples/goto.js localhost:6665 1 0.5

import { GotoError, PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";

const { host, port, rest } = parse(0);
const [x, y] = (rest.length > 0 ? rest : ["1", "0"]).map(Number);
const robot = new PlayerClient(host, port);
await robot.connect();
robot.setCommandLifetime(1000); // ms: if this program hangs, the robot stops
await robot.request({ goto: "all", position: "read" });
robot.addEventListener("round", () => {
  if (robot.goto.distanceMm !== null) console.log(`${robot.goto.distanceMm} mm to go`);
});
try {
  await robot.goTo({ xMm: 1000 * x, yMm: 1000 * y });
  console.log(`arrived at x ${robot.position.x} mm, y ${robot.position.y} mm`);
} catch (e) {
  if (!(e instanceof GotoError)) throw e;
  console.log(e.message);
  process.exitCode = 1;
}
robot.close();
