// The client for Node.js: a Session on a TCP socket.

import net from "node:net";
import tls from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { PlayerError, REPLY, ROUND, Session } from "./session.js";
import { Wait } from "./wait.js";

export * from "./session.js";
export * from "./simulation.js";

// CONNECT_LIMIT is how long connecting may take, in ms. A poor wireless link needs less than 1000.
const CONNECT_LIMIT = 10_000;
// REQUEST_LIMIT is how long the reply to a request may take, in ms. A laser whose line speed must be
// found takes more than 10,000 to start.
const REQUEST_LIMIT = 60_000;
// UNSENT_LIMIT is how many bytes of commands may wait for the network: thousands of commands. A link
// with more is lost.
const UNSENT_LIMIT = 65536;
// CLOSE_LIMIT is how long commands that the network has not taken may keep a closed connection, in ms.
const CLOSE_LIMIT = 5000;
// FIRST_PAUSE and LONGEST_PAUSE are between attempts of reconnect, in ms, doubled each time.
const FIRST_PAUSE = 100, LONGEST_PAUSE = 1000;

// A PlayerClient is a connection to a Player server:
//
//   const robot = new PlayerClient("localhost", 6665);
//   await robot.connect();
//   await robot.request("srpw");          // read the sonars, write the wheels
//   for (;;) {
//     await robot.read(2000);             // ten times a second
//     robot.setSpeed(100, robot.sonar[3] < 500 ? 20 : 0); // mm/s, deg/s
//   }
//
// Waits are promises with a time limit in ms; without one, read waits forever. One wait may run at a
// time. When the connection ends, the server stops the wheels.
export class PlayerClient extends Session {
  #link = null;

  // With tlsOptions it is a connection by TLS. They are options of tls.connect: ca, cert, key, servername.
  constructor(host = "localhost", port = 6665, tlsOptions = null) {
    super((message) => this.#transmit(message));
    this.host = host;
    this.port = port;
    this.tls = tlsOptions;
  }

  // connect connects to the server, by default at the properties host and port.
  async connect(host = this.host, port = this.port, timeoutMs = CONNECT_LIMIT) {
    this.close();
    this.host = host;
    this.port = port;
    this.forget();
    await this.#open(timeoutMs);
  }

  async #open(timeoutMs) {
    this.reset();
    const link = new Link(this.host, this.port, this.tls);
    try {
      await link.connected(timeoutMs);
    } catch (e) {
      link.close();
      throw e;
    }
    this.#link = link;
  }

  // close closes the connection. The server then stops the wheels if this client had write access to
  // them.
  close() {
    this.#link?.close();
    this.#link = null;
  }

  // request asks for devices, waits for the server's reply and returns it. pairs are a device and an
  // access each: "srpw" is sonar read, position write; a is both, c closes a device. Starting a device
  // can take seconds.
  //
  // It throws an error of kind refused if the server granted less, with its reasons. A device that is read
  // and then opened with w is granted a. Rounds that arrive meanwhile
  // update the data and are not returned by read again. After a timeout the server still answers the
  // request; the next read or request takes its reply.
  async request(pairs, timeoutMs = REQUEST_LIMIT) {
    const deadline = performance.now() + timeoutMs;
    this.startRequest(pairs);
    await this.#wait(REPLY, timeoutMs);
    try {
      if (this.explain(pairs)) await this.#wait(REPLY, deadline - performance.now());
    } catch {
      // The refusal stands, without reasons.
    }
    return this.finishRequest(pairs);
  }

  // geometry returns where the parts of the robot are, and what they cover, as far as the server knows it
  // (PROTOCOL 8.9.3): { device, number, x, y, heading, length, width, range, view }, in mm and degrees. A
  // device that is open is known best. A server without such answers has no parts.
  async geometry(timeoutMs = REQUEST_LIMIT) {
    this.startQuestion("g");
    await this.#wait(REPLY, timeoutMs);
    return this.finishGeometry();
  }

  // devices returns the devices of the robot (PROTOCOL 8.9.5): { code, interface, index, driver, name }. From then on
  // every method takes their names, and the answers and refusals have those without letters, too. The list is empty if
  // the server is an older one, whose devices all have letters, or if this client may neither read nor write.
  async devices(timeoutMs = REQUEST_LIMIT) {
    this.startQuestion("d");
    await this.#wait(REPLY, timeoutMs);
    return this.finishDevices();
  }

  // open opens a device by its name, for example "laser:1" or "imu", which means imu:0: access is r, w or a. From then
  // on every method takes the name. It returns the character that stands for the device in request and in new.
  //
  // It asks the server which devices there are unless it knows the name already. Of an older server, it opens devices
  // by their letters. It throws an error of kind refused if the robot has no such device, one of kind usage if name
  // cannot be one, and what request throws.
  async open(name, access = "r", timeoutMs = REQUEST_LIMIT) {
    const deadline = performance.now() + timeoutMs;
    if (!this.isListed(name)) await this.devices(timeoutMs);
    const code = this.codeOf(name);
    await this.request(code + access, Math.max(0, deadline - performance.now()));
    return code;
  }

  // rays returns where the readings of lasers, sonars and rangers look from and to, as far as the server knows it
  // (PROTOCOL 8.9.6): { device, first, count, xMm, yMm, headingDeg, stepDeg, nearMm, farMm, coneDeg }. Open the devices
  // first: a driver may learn it then. An older server knows none.
  async rays(timeoutMs = REQUEST_LIMIT) {
    this.startQuestion("r");
    await this.#wait(REPLY, timeoutMs);
    return this.finishRays();
  }

  // channels returns what the inputs, outputs and joints of the robot are (PROTOCOL 8.9.7): { device, number, role,
  // unit, min, max, name }. Call devices, or open one of them by its name, before: they have no letters. An older
  // server knows none.
  async channels(timeoutMs = REQUEST_LIMIT) {
    this.startQuestion("i");
    await this.#wait(REPLY, timeoutMs);
    return this.finishChannels();
  }

  // read waits for one whole round of data: a block of each device open for reading. In continuous mode
  // rounds come at the server's frequency (setFrequency), in request/reply mode after requestData. In
  // freshness mode (setFresh) a round has only new data.
  async read(timeoutMs = Infinity) {
    this.checkReadable();
    await this.#wait(ROUND, timeoutMs);
  }

  // reconnect connects again after an error of kind closed, and restores what this client had: name, access to devices,
  // frequency, command lifetime, data mode and freshness mode. It tries until it succeeds or the time limit has passed.
  // Data and ages start anew; motor power, odometry and velocity control belong to the robot and are not touched. If
  // the server has listed its devices before, it is asked for them again. An error of kind refused, whose reasons have
  // the word moved, means that one of their bytes means another device now: no device is open, so open them again by
  // their names.
  async reconnect(timeoutMs = Infinity) {
    const deadline = performance.now() + timeoutMs;
    let wanted = this.wanted();
    const left = (limit) => Math.max(0, Math.min(deadline - performance.now(), limit));
    let why; // of the last attempt that the time limit has not cut short
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      this.close();
      try {
        await this.#open(left(CONNECT_LIMIT));
        this.restoreSettings();
        if (this.listed() !== null) {
          await this.devices(left(REQUEST_LIMIT));
          try {
            this.checkSame();
          } catch (e) {
            wanted = "";
            throw e;
          }
        }
        if (wanted !== "") await this.request(wanted, left(REQUEST_LIMIT));
        this.restoreFreshness();
        return;
      } catch (e) {
        if (e.kind === "refused") {
          this.wants(wanted); // what is refused now is asked for again next time
          this.restoreFreshness();
        }
        const passing = e instanceof PlayerError && (e.kind === "closed" || e.kind === "timeout");
        if (!passing) throw e;
        if (why === undefined || left(Infinity) > 0) why = e;
        if (left(Infinity) <= pause) throw why;
      }
      await sleep(pause);
    }
  }

  // wait receives until an event. The others are complete then, but not returned.
  async #wait(wanted, timeoutMs) {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      let event;
      try {
        event = this.nextEvent();
      } catch (e) {
        if (wanted === REPLY) continue; // has is false for that block
        throw e;
      }
      if (event === wanted) return;
      if (event === null) this.receive(await this.#connected().received(deadline - performance.now()));
    }
  }

  #transmit(message) {
    this.#connected().send(message);
  }

  #connected() {
    if (this.#link === null) throw new PlayerError("closed", "not connected");
    return this.#link;
  }
}

// A Link is a socket whose bytes are taken when they are wanted: what the program does not read waits
// in the kernel, and the server sends no more than that.
class Link {
  #socket;
  #connected = false;
  #wait = new Wait();

  constructor(host, port, tlsOptions) {
    try {
      this.#socket = tlsOptions ? tls.connect({ ...tlsOptions, host, port }) : net.createConnection({ host, port, autoSelectFamily: true });
      this.#socket.setNoDelay(true); // send commands at once
    } catch (e) { // the port, or what is no certificate
      throw new PlayerError("closed", `${host}:${port}: ${e.message}`);
    }
    const changed = () => this.#wait.wake();
    this.#socket.on(tlsOptions ? "secureConnect" : "connect", () => {
      this.#connected = true;
      changed();
    });
    this.#socket.on("readable", changed);
    this.#socket.on("error", (e) => {
      this.#wait.ended ??= `${host}:${port}: ${e.message}`;
      changed();
    });
    for (const end of ["end", "close"]) {
      this.#socket.on(end, () => {
        this.#wait.ended ??= tlsOptions && !this.#connected
          ? `${host}:${port}: the server ended the TLS handshake: is this its port for TLS?`
          : "the server closed the connection";
        changed();
      });
    }
  }

  async connected(timeoutMs) {
    await this.#wait.until(timeoutMs, () => this.#connected, "the server did not answer in time");
  }

  // received waits for bytes and returns them.
  async received(timeoutMs) {
    let bytes = null;
    await this.#wait.until(timeoutMs, () => (bytes = this.#socket.read()) !== null, "nothing more arrived in time");
    return bytes;
  }

  send(message) {
    this.#wait.open();
    if (this.#socket.writableLength > UNSENT_LIMIT) {
      this.#wait.ended = "cannot send: the network takes nothing";
      this.#socket.destroy();
      throw new PlayerError("closed", this.#wait.ended);
    }
    this.#socket.write(message);
  }

  // close ends the connection when the commands have been sent, or at once if it is none yet: a socket
  // that connects would keep the program for minutes.
  close() {
    this.#wait.ended ??= "closed";
    if (!this.#connected) {
      this.#socket.destroy();
      return;
    }
    this.#socket.destroySoon();
    const late = setTimeout(() => this.#socket.destroy(), CLOSE_LIMIT).unref();
    this.#socket.once("close", () => clearTimeout(late));
  }
}
