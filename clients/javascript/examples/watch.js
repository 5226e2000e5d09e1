// Prints the data of every device and its age, whenever there is new data. It connects again when the
// connection is lost. Ctrl-C ends it.
//
//   node examples/watch.js localhost:6665

import { ClosedError, PlayerClient, RefusedError, TimeoutError } from "../lib/node.js";
import { parse } from "./arguments.js";

// The names of devices, and their data as text. freshness, the server itself, sends the ages.
const texts = {
  position: (r) => `position ${JSON.stringify(r.position)}`,
  sonar: (r) => `sonar ${r.sonar.join(" ")} mm`,
  laser: (r) => `laser ${r.laser[0]} mm right, ${r.laser[180]} mm ahead, ${r.laser[360]} mm left`,
  misc: (r) => `misc ${JSON.stringify(r.misc)}`,
  gripper: (r) => `gripper ${JSON.stringify(r.gripper)}`,
  ptz: (r) => `ptz ${JSON.stringify(r.ptz)}`,
  vision: (r) => `vision ${r.vision.activeChannels.map((c) => `channel ${c}: ${r.vision.channels[c].length}`).join(", ")}`,
};

const { host, port, rounds } = parse(1_000_000);
const robot = new PlayerClient(host, port);
await robot.connect();
try {
  const wanted = ["freshness", ...Object.keys(texts)].map((device) => [device, "read"]);
  await robot.request(Object.fromEntries(wanted));
} catch (e) {
  if (!(e instanceof RefusedError)) throw e;
  console.log(e.message); // the robot does not have all devices
}
robot.setFresh(true); // only new data
for (let i = 0; i < rounds; i++) {
  try {
    await robot.read();
  } catch (e) {
    if (!(e instanceof ClosedError) && !(e instanceof TimeoutError)) throw e;
    console.log(`${e.message}: connecting again`);
    await robot.reconnect({ timeoutMs: Infinity });
    continue;
  }
  for (const device of Object.keys(texts).filter((name) => robot.isNew(name))) {
    const age = robot.ageUs(device);
    const text = robot.has(device) ? texts[device](robot) : `${device}: no data`;
    console.log(`${(age === null ? "?" : String(Math.floor(age / 1000))).padStart(5)} ms  ${text}`);
  }
}
robot.close();
