// The command line that the examples share.

import { parseArgs } from "node:util";

// parse returns the host and the port of the server, and how many rounds to run:
// host:port -n rounds.
export function parse(rounds) {
  const { values, positionals } = parseArgs({ options: { n: { type: "string", short: "n" } }, allowPositionals: true });
  const [host, port] = (positionals[0] ?? "").split(":");
  return { host: host || "localhost", port: Number(port || 6665), rounds: Number(values.n ?? rounds) };
}
