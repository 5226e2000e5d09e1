// What clients wait for.

import { PlayerError } from "./errors.js";

// A Wait is what one program waits for at a connection.
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
    if (this.ended !== null) throw new PlayerError("closed", this.ended);
  }

  // until waits for a condition, the end of the connection, or the time limit, in ms.
  async until(timeoutMs, condition, late) {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      this.open();
      const left = deadline - performance.now();
      if (left <= 0) throw new PlayerError("timeout", late);
      await new Promise((resolve) => {
        const timer = left < 2 ** 31 ? setTimeout(resolve, left) : null; // more is too much for setTimeout
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
