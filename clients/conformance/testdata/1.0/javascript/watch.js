// Prints the data of every device and its age, whenever there is new data. It connects again when the
// connection is lost. Ctrl-C ends it.
//
//   node examples/watch.js localhost:6665

import { PlayerClient } from "../lib/node.js";
import { parse } from "./arguments.js";

const DEVICES = "yspmlgzv"; // y, the server itself, sends the ages

const texts = {
  p: (r) => `position ${JSON.stringify(r.position)}`,
  s: (r) => `sonar ${r.sonar.join(" ")} mm`,
  l: (r) => `laser ${r.laser[0]} mm right, ${r.laser[180]} mm ahead, ${r.laser[360]} mm left`,
  m: (r) => `misc ${JSON.stringify(r.misc)}`,
  g: (r) => `gripper ${JSON.stringify(r.gripper)}`,
  z: (r) => `ptz ${JSON.stringify(r.ptz)}`,
  v: (r) => `vision ${r.vision.activeChannels.map((c) => `channel ${c}: ${r.vision.channels[c].length}`).join(", ")}`,
};

const { host, port, rounds } = parse(1_000_000);
const robot = new PlayerClient(host, port);
await robot.connect();
try {
  await robot.request([...DEVICES].map((device) => device + "r").join(""));
} catch (e) {
  if (e.kind !== "refused") throw e;
  console.log(e.message); // the robot does not have all devices
}
robot.setFresh(true); // only new data
for (let i = 0; i < rounds; i++) {
  try {
    await robot.read(10_000);
  } catch (e) {
    if (e.kind !== "closed" && e.kind !== "timeout") throw e;
    console.log(`${e.message}: connecting again`);
    await robot.reconnect();
    continue;
  }
  for (const device of robot.new.replace("y", "")) {
    const age = robot.ageUs(device);
    const text = robot.has(device) ? texts[device](robot) : `${device}: no data`;
    console.log(`${(age === null ? "?" : String(Math.floor(age / 1000))).padStart(5)} ms  ${text}`);
  }
}
robot.close();
