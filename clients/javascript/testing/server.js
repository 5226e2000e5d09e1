// The real server for the tests.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

export const LIMIT = 30_000; // ms, after which a wait has failed

const repository = new URL("../../../", import.meta.url);

// freePort returns a port that was free a moment ago, below those that the kernel gives to clients.
export async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(Math.random() * 10000);
    const probe = net.createServer();
    try {
      await once(probe.listen(port, "127.0.0.1"), "listening");
    } catch {
      continue;
    }
    probe.close();
    await once(probe, "close");
    return port;
  }
}

function has(program) {
  return (process.env.PATH ?? "").split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, program)));
}

// realServer starts the program of this repository with a simulated robot and a dashboard. Its path is
// in the environment variable PLAYER, otherwise it is built. It returns null without both.
export async function realServer() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "player-"));
  let program = process.env.PLAYER;
  if (!program) {
    if (!has("go") && !process.env.CI) return null;
    program = path.join(folder, "player");
    execFileSync("go", ["build", "-o", program, "."], { cwd: repository, stdio: ["ignore", "ignore", "inherit"] });
  }
  for (let attempt = 0; attempt < 10; attempt++) { // another program may take a free port first
    const port = await freePort(), dashboardPort = await freePort();
    const child = spawn(program, ["-stage", "simulation/worlds/room.world", "-http", `localhost:${dashboardPort}`, "-gp", String(port)], {
      cwd: repository, stdio: ["ignore", "ignore", "pipe"],
    });
    const gone = once(child, "exit");
    let serving = false, dashboard = false;
    for await (const line of readline.createInterface({ input: child.stderr })) {
      serving ||= line.includes('"serving"');
      dashboard ||= line.includes("dashboard");
      if (serving && dashboard) break;
    }
    child.stderr.resume();
    const stop = async () => {
      child.kill();
      await gone;
      fs.rmSync(folder, { recursive: true });
    };
    if (serving && dashboard) return { port, dashboard: dashboardPort, stop };
    await gone;
  }
  throw new Error("the server does not start");
}
