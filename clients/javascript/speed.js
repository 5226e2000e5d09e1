// Reads many robots in one event loop, for the benchmarks (docs/CLIENTS.md).

import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { PlayerClient } from "./lib/node.js";

const RATE = 50; // Hz
const LIMIT = 10_000; // ms for each wait

if (process.argv.length !== 7) {
  console.error("usage: speed.js HOST PORT COUNT WARMUP SECONDS");
  process.exit(2);
}
const host = process.argv[2];
const [port, count, warmup, seconds] = process.argv.slice(3).map(Number);

const robots = Array.from({ length: count }, (_, i) => new PlayerClient(host, port + i));
for (const robot of robots) {
  await robot.connect();
  robot.setFrequency(RATE);
  await robot.request("lrsrprgrmrvrzr", LIMIT);
}
const begin = performance.now() + 1000 * warmup;
const end = begin + 1000 * seconds;
const intervals = [];

async function follow(robot) {
  for (let last = 0; ; ) {
    await robot.read(LIMIT);
    const now = performance.now();
    if (last && now >= begin && now < end) intervals.push(Math.round(1000 * (now - last)));
    last = now;
  }
}

robots.forEach(follow); // an error ends the process
await sleep(begin - performance.now());
console.log("begin");
await sleep(end - performance.now());
console.log("end");
fs.readFileSync(0);
intervals.sort((a, b) => a - b);
const n = intervals.length;
if (n === 0) intervals.push(0);
const at = (i) => intervals[Math.floor(i)];
console.log(JSON.stringify({ runtime: `Node.js ${process.version}`, frames: n, p50_us: at(n / 2), p99_us: at((n * 99) / 100), max_us: at(intervals.length - 1) }));
process.exit();
