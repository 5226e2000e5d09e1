// The command line of the examples.

import { parseArgs } from "node:util";

// address returns the host and the port in host:port, by default of a server on this computer.
export function address(text = "") {
  const [host, port] = text.split(":");
  return { host: host || "localhost", port: Number(port || 6665) };
}

// parse returns the host and the port of the server, how many rounds to run, all addresses, and the arguments behind
// the first one: host:port ... -n rounds.
export function parse(rounds) {
  const options = { n: { type: "string", short: "n" } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  return { ...address(positionals[0]), rounds: Number(values.n ?? rounds), addresses: positionals, rest: positionals.slice(1) };
}
