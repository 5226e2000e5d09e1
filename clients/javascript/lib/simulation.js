// Experiments in a simulated world: its true state, read and changed.

import { ClosedError, ProtocolError, RefusedError, TimeoutError, UsageError } from "./errors.js";
import { Limit } from "./wait.js";

// LIMIT is how long a call may take, in ms. A thousand steps of a crowd take seconds.
const LIMIT = 60_000;

// A Simulation is the world of a simulation (docs/STAGE.md), on the address of the dashboard:
//
//   const world = new Simulation("localhost", 8080);
//   await world.order({ seed: 7, move: { r0: { x: 1, y: 0.5, heading: 90 } } });
//   console.log((await world.state()).movers[0].x);
//
// It needs the right to read, and for order the right to write. A world in step changes between two of
// its steps: right before its client requests the next data. In a browser it works for a page of the
// dashboard.
export class Simulation {
  // With tls, in Node.js, it asks by https: options of https.request, ca, cert, key and servername. A page
  // in a browser asks as it was fetched.
  constructor(host = "localhost", port = 8080, tls = null) {
    this.host = host;
    this.port = port;
    this.tls = tls;
  }

  // state returns { time, speed, paused, finished, seed, movers }: simulated seconds, simulated seconds a
  // second with 0 for as fast as possible, and the robots, then the things that can move. A mover has
  // name, robot, x and y in m, heading in deg, and sees: the things that its fiducial finder sees, with name, id,
  // range in m, and bearing in deg. options as for PlayerClient: { timeoutMs, signal }, by default 60 s.
  async state(options = undefined) {
    return this.#ask("GET", "", Limit.of(options, LIMIT));
  }

  // order changes the world and returns the state afterwards. It is carried out in the order of these
  // names, without another order in between:
  //
  //   reset  true: all is as at the start, also the time; clients stay connected
  //   seed   the same with another seed
  //   move   robots and things by name, each to { x, y, heading }: all of them or, without room, none
  //   speed  0 to 1000
  //   pause  true or false
  //   step   0 to 1000 steps of 10 ms, also while the world is paused
  //
  // The error of an order that is not possible is a RefusedError.
  async order({ move, ...rest }, options = undefined) {
    const limit = Limit.of(options, LIMIT);
    const order = { ...rest, move: move && Object.entries(move).map(([name, { x, y, heading }]) => ({ name, x, y, heading })) };
    return this.#ask("POST", `?order=${encodeURIComponent(JSON.stringify(order))}`, limit);
  }

  async #ask(method, query, limit) {
    const address = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`;
    let response, text;
    try {
      const late = AbortSignal.timeout(Math.min(Math.ceil(limit.leftMs), 2 ** 31 - 1));
      const signal = limit.signal ? AbortSignal.any([limit.signal, late]) : late;
      if (this.tls) {
        response = await sealed(`https://${address}/simulation${query}`, { ...this.tls, method, signal });
        text = response.body;
      } else {
        const scheme = globalThis.location?.protocol === "https:" ? "https" : "http";
        response = await fetch(`${scheme}://${address}/simulation${query}`, { method, signal });
        text = await response.text();
      }
    } catch (e) {
      limit.signal?.throwIfAborted();
      if (e.name === "TimeoutError") throw new TimeoutError(`${address} did not answer in time`);
      throw new ClosedError(`${address}: ${e.cause?.message || e.message}`);
    }
    const reason = text.trim().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?"); // people see it on terminals
    if (response.status === 400 || response.status === 409) throw new RefusedError(reason);
    if (response.status === 403) throw new UsageError(reason);
    if (response.status === 404) throw new UsageError(`${address} serves no simulation: start the server with -stage and -http`);
    if (!response.ok) throw new ProtocolError(`${address}: ${response.status} ${reason}`);
    let state = null;
    try {
      state = JSON.parse(text);
    } catch {
      // not even JSON
    }
    if (!Array.isArray(state?.movers)) throw new ProtocolError(`${address} is no dashboard of Player`);
    for (const mover of state.movers) mover.sees ??= [];
    return state;
  }
}

// sealed asks by https with options that fetch does not have, and returns status, ok and body.
async function sealed(address, options) {
  const { request } = await import("node:https");
  return new Promise((resolve, reject) => {
    const failed = (e) => reject(options.signal.aborted ? options.signal.reason : e);
    const asking = request(address, { ...options, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (piece) => (body += piece)).on("error", failed);
      response.on("end", () => resolve({ status: response.statusCode, ok: response.statusCode === 200, body }));
    });
    asking.on("error", failed).end();
  });
}
