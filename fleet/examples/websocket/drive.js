// Drives a robot of a fleet forward until it moves, by a WebSocket and JSON, as a page in a
// browser does. The client of NATS is npm's.
//
//	node drive.js ws://127.0.0.1:8081 FLEET ROBOT
import { errors, wsconnect } from "@nats-io/nats-core";
import { WebSocket } from "ws";

globalThis.WebSocket ??= WebSocket; // a browser has its own

const RENEWAL = 400; // ms between two commands: a lease ends 1 s after the last one
const LIMIT = 5000; // ms until a request has failed: hardware may have to start

const [url, fleet, robot] = process.argv.slice(2);
const nats = await wsconnect({ servers: url });
const subject = (last) => `player.${fleet}.${robot}.position.0.${last}`;
const pause = () => new Promise((done) => setTimeout(done, RENEWAL));

// ask sends a request, and again while no bridge serves the robot.
async function ask(last, body) {
  for (;;) {
    try {
      return (await nats.request(subject(last), JSON.stringify(body), { timeout: LIMIT })).json();
    } catch (error) {
      if (!(error instanceof errors.RequestError && error.isNoResponders())) throw error;
      await pause();
    }
  }
}

let moves = false;
nats.subscribe(subject("json"), { callback: (_, message) => (moves ||= message.json().data?.speed > 0) });

let token = "";
while (!moves) {
  const { ok, error } = await ask("command", { speed: 100, turn: 0, token });
  if (ok) {
    await pause();
    continue;
  }
  console.error(error);
  ({ token = "" } = await ask("lease", { holder: "page" }));
}
console.log("it moves");
console.log(JSON.stringify(await ask("lease", { token, release: true })));
await nats.close();
