// The events that clients wait for, and for how long.

import { ClosedError, TimeoutError, UsageError } from "./errors.js";

// READ_LIMIT is how long read waits without a time limit of its caller, in ms: a hundred rounds of the default frequency. A
// program of a robot that sends nothing for so long gets an error instead of waiting for ever.
export const READ_LIMIT = 10_000;

// A Limit is the end of a wait: its time in ms of performance.now, and a signal that ends it earlier.
export class Limit {
  // options is a time limit in ms, or an object with timeoutMs and signal, or undefined. standardMs is the time limit
  // without one. A Limit stays as it is.
  static of(options, standardMs) {
    return options instanceof Limit ? options : new Limit(options, standardMs);
  }

  constructor(options, standardMs) {
    const { timeoutMs = standardMs, signal } = typeof options === "object" && options !== null ? options : { timeoutMs: options };
    if (typeof timeoutMs !== "number" || Number.isNaN(timeoutMs)) throw new UsageError(`${timeoutMs} is not a time limit in ms`);
    this.deadline = performance.now() + timeoutMs;
    this.signal = signal;
  }

  get leftMs() {
    return Math.max(0, this.deadline - performance.now());
  }

  // within is this limit, but at most some ms.
  within(ms) {
    return new Limit({ timeoutMs: Math.min(this.leftMs, ms), signal: this.signal });
  }
}

// A Wait is one program's wait at a connection.
export class Wait {
  ended; // why the connection ended; null: it has not
  #wake = () => {};

  constructor(ended = null) {
    this.ended = ended;
  }

  // wake lets until check again.
  wake() {
    this.#wake();
  }

  // open throws an error if the connection has ended.
  open() {
    if (this.ended !== null) throw new ClosedError(this.ended);
  }

  // until waits for a condition, the end of the connection, or the limit. It throws the reason of a signal.
  async until(limit, condition, late) {
    while (!condition()) {
      limit.signal?.throwIfAborted();
      this.open();
      const left = limit.leftMs;
      if (left <= 0) throw new TimeoutError(late);
      await new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          limit.signal?.removeEventListener("abort", wake);
          resolve(undefined);
        };
        const timer = left < 2 ** 31 ? setTimeout(wake, left) : undefined; // more is too much for setTimeout
        limit.signal?.addEventListener("abort", wake);
        this.#wake = wake;
      });
    }
  }
}
