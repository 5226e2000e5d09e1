// Drives two robots in one program, each around obstacles with its sonars. Ctrl-C stops both.
//
//   player -stage simulation/worlds/subsumption-fleet.world
//   node examples/two-robots.js localhost:6665 localhost:6666

import { PlayerClient } from "../lib/node.js";
import { address, parse } from "./arguments.js";
import { avoid } from "./steering.js";

const { rounds, addresses } = parse(300);

// wander drives one robot, and returns where it is in the end.
async function wander(where, signal) {
  const robot = new PlayerClient(address(where));
  try {
    await robot.connect({ signal });
    robot.setName(`wander ${where}`);
    robot.setCommandLifetime(500); // ms: if this program hangs, the robot stops
    await robot.request({ sonar: "read", position: "all" }, { signal });
    let round = 0;
    for await (const { sonar } of robot.rounds({ signal })) {
      if (robot.has("sonar")) robot.setSpeed(...avoid(sonar));
      if (++round >= rounds) break;
    }
    return `${where}: x ${robot.position.x} mm, y ${robot.position.y} mm`;
  } finally {
    robot.close();
  }
}

const together = new AbortController(); // the error of one robot also ends the drive of the other one
try {
  const both = addresses.length === 2 ? addresses : ["localhost:6665", "localhost:6666"];
  for (const end of await Promise.all(both.map((where) => wander(where, together.signal)))) console.log(end);
} finally {
  together.abort();
}
