// The client for Node.js: a Session on a TCP socket.

import net from "node:net";
import tls from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { firstOf, pairsOf } from "./data.js";
import { ClosedError, GOTO_STATE, GotoError, PlayerError, PlayerEvent, REPLY, ROUND, Session, UsageError } from "./session.js";
import { Limit, READ_LIMIT, Wait } from "./wait.js";

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
// RECONNECT_LIMIT is how long reconnect tries without a time limit of its caller, in ms: a server that is started anew by
// systemd, or a computer that boots, is there by then.
const RECONNECT_LIMIT = 60_000;
// TAKE_LIMIT is how long goTo waits for data of its goal, in ms. The server answers no command, so a goal that it drops,
// because another client has control or the emergency stop holds, is only seen by its absence.
const TAKE_LIMIT = 3000;
// FIRST_PAUSE and LONGEST_PAUSE are between attempts of reconnect, in ms, doubled each time.
const FIRST_PAUSE = 100, LONGEST_PAUSE = 1000;

// A PlayerClient is a connection to a Player server:
//
//   const robot = new PlayerClient("localhost", 6665);
//   await robot.connect();
//   robot.setCommandLifetime(500);        // a program that hangs does not leave the robot driving
//   await robot.request({ sonar: "read", position: "write" });
//   for await (const { sonar } of robot) { // ten times a second
//     robot.setSpeed(100, sonar[3] < 500 ? 20 : 0); // mm/s, deg/s
//   }
//
// Calls that wait return promises, and take options as their last argument: { timeoutMs, signal }, or a number, which is
// timeoutMs. At the end of the time they throw a TimeoutError, and when the signal of an AbortController aborts, its
// reason; either way the connection stays usable. Every call has a time limit of its own unless timeoutMs is Infinity. One
// wait may run at a time. When the connection ends, the server stops the wheels.
export class PlayerClient extends Session {
  #link = null;

  // With tlsOptions it is a connection by TLS. They are options of tls.connect: ca, cert, key, servername. All three may
  // be members of one object: { host, port, tls }.
  constructor(/** @type {any} */ host = "localhost", port = 6665, tlsOptions = null) {
    super((message) => this.#transmit(message));
    const given = typeof host === "object" ? host : { host, port, tls: tlsOptions };
    ({ host: this.host = "localhost", port: this.port = 6665, tls: this.tls = null } = given);
  }

  // connect connects to the server, by default at the properties host and port, within 10 s. An earlier connection is
  // closed. host and port may also be members of options, which is then the only argument.
  async connect(/** @type {any} */ host = this.host, port = this.port, options = undefined) {
    if (typeof host === "object") {
      options = host;
      ({ host = this.host, port = this.port } = options);
    }
    const limit = Limit.of(options, CONNECT_LIMIT);
    this.close();
    this.host = host;
    this.port = port;
    this.forget();
    await this.#open(limit);
  }

  async #open(limit) {
    this.reset();
    const link = new Link(this.host, this.port, this.tls);
    try {
      await link.connected(limit);
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

  // request asks for devices, waits for the server's reply, at most 60 s, and returns what was granted. wanted has an
  // access by the name of each device: { sonar: "read", position: "write", "laser:1": "read", imu: "read" }; all is read
  // and write, close closes a device. Or it is text, of a letter and an access each: "srpw" is sonar read, position
  // write; a is all, c close. The granted access has the same form. Starting a device can take seconds.
  //
  // It throws a RefusedError if the server granted less, with its reasons, or if the robot has no such device. A device
  // that is read and then opened for writing is granted all. Rounds that arrive meanwhile update the data and are not
  // returned by read again. After a timeout the server still answers the request; the next read or request takes its
  // reply.
  async request(wanted, options = undefined) {
    const limit = Limit.of(options, REQUEST_LIMIT);
    if (this.needsDevices(wanted)) await this.devices(limit);
    const pairs = this.pairsOf(wanted);
    this.startRequest(pairs);
    await this.#wait(REPLY, limit);
    try {
      if (this.explain(pairs)) await this.#wait(REPLY, limit);
    } catch {
      // The refusal stands, without reasons.
    }
    return this.grantedOf(wanted, this.finishRequest(pairs, wanted));
  }

  async #ask(question, options) {
    const limit = Limit.of(options, REQUEST_LIMIT);
    this.startQuestion(question);
    await this.#wait(REPLY, limit);
  }

  // geometry returns the places and the sizes of the parts of the robot, as far as the server knows them
  // (PROTOCOL 8.9.3): { device, number, x, y, heading, length, width, range, view }, in mm and degrees. A
  // device that is open is known best. A server without such answers has no parts.
  async geometry(options = undefined) {
    await this.#ask("g", options);
    return this.finishGeometry();
  }

  // devices returns the devices of the robot (PROTOCOL 8.9.5): { code, interface, index, driver, name }. From then on
  // every method takes their names, and answers and refusals also have those without letters. The list is empty if
  // the server is an older one, whose devices all have letters, or if this client may neither read nor write.
  async devices(options = undefined) {
    await this.#ask("d", options);
    return this.finishDevices();
  }

  // open opens a device by its name, for example "laser:1" or "imu", which means imu:0: access is read, write or all.
  // From then on every method takes the name. It returns the character that stands for the device in request and in new.
  //
  // It asks the server which devices there are unless it knows the name already. Of an older server, it opens devices
  // by their letters. It throws a RefusedError if the robot has no such device, a UsageError if name
  // cannot be one, and the errors of request.
  async open(name, access = "read", options = undefined) {
    const limit = Limit.of(options, REQUEST_LIMIT);
    const server = firstOf(name) === "y"; // freshness, which no list has
    if (!server && !this.isListed(name)) await this.devices(limit);
    const code = server ? "y" : this.codeOf(name);
    await this.request(pairsOf({ [code]: access }, (letter) => letter), limit);
    return code;
  }

  // rays returns where the readings of lasers, sonars and rangers look from and to, as far as the server knows it
  // (PROTOCOL 8.9.6): { device, first, count, xMm, yMm, headingDeg, stepDeg, nearMm, farMm, coneDeg }. Open the devices
  // first: a driver may learn it then. An older server knows none.
  async rays(options = undefined) {
    await this.#ask("r", options);
    return this.finishRays();
  }

  // channels returns what the inputs, outputs and joints of the robot are (PROTOCOL 8.9.7): { device, number, role,
  // unit, min, max, name }. Call devices, or open one of them by its name, before: they have no letters. An older
  // server knows none.
  async channels(options = undefined) {
    await this.#ask("i", options);
    return this.finishChannels();
  }

  // colors returns the colours of the channels of vision that the server knows (PROTOCOL 8.9.8): { device, channel,
  // color }, the colour as "#ffa500". An older server knows none.
  async colors(options = undefined) {
    await this.#ask("v", options);
    return this.finishColors();
  }

  // read waits for one whole round of data, at most 10 s: a block of each device open for reading. In continuous mode
  // rounds come at the server's frequency (setFrequency), in request/reply mode after requestData. In
  // freshness mode (setFresh) a round has only new data.
  async read(options = undefined) {
    const limit = Limit.of(options, READ_LIMIT);
    this.checkReadable();
    await this.#wait(ROUND, limit);
  }

  // goTo drives to a goal of setGoal by a goto device, which was requested with access all, and returns its data when
  // the robot has arrived. It reads rounds meanwhile, and asks for them in request/reply mode; events of type round have
  // each. It chooses the tag, and repeats its command, so that a lifetime (setCommandLifetime) may be as short as some
  // rounds. There is no time limit for the drive unless options has one; each round comes within 10 s, and the server
  // gives up a goal to which it finds no way.
  //
  // It throws a GotoError if the robot gives the goal up, if the server has not taken the goal, or if another client has
  // given another one. After any other error the robot stops if it drives to this goal.
  async goTo(goal, options = undefined) {
    const { device = "goto", ...rest } = typeof options === "object" ? options : { timeoutMs: options };
    const limit = Limit.of(rest, Infinity);
    if (this.access(device) !== "a") throw new UsageError(`goTo needs request({ "${device}": "all" }) first`);
    const mine = { ...goal, tag: Math.floor(Math.random() * 0x10000) };
    try {
      return await this.#drive(mine, device, limit);
    } catch (e) {
      if (!(e instanceof GotoError) || e.data === null) {
        try {
          this.stopGoal(device);
        } catch {
          // The connection is lost, which stops the robot.
        }
      }
      throw e;
    }
  }

  // drive is goTo, without the stop after an error.
  async #drive(goal, device, limit) {
    const begun = performance.now();
    for (let taken = false; ; ) {
      this.setGoal(goal, device);
      if (this.asksForData) this.requestData();
      await this.read(limit.within(READ_LIMIT));
      const data = this.data(device);
      if (this.has(device) && data.tag === goal.tag && data.xMm === Math.round(goal.xMm) && data.yMm === Math.round(goal.yMm)
        && data.state !== GOTO_STATE.idle) {
        taken = true;
        if (data.arrived) return data;
        if (data.state === GOTO_STATE.stopped) {
          throw new GotoError(`the robot has not arrived at (${data.xMm}, ${data.yMm}) mm: ${data.why}`, data);
        }
      } else if (taken) {
        throw new GotoError("another goal has replaced this one", data);
      } else if (performance.now() - begun > TAKE_LIMIT) {
        throw new GotoError("the server has not taken the goal: another client has control, or the emergency stop is active");
      }
    }
  }

  // reconnect connects again after an error of kind closed, and restores what this client had: name, access to devices,
  // frequency, command lifetime, data mode and freshness mode. It tries until it succeeds or the time limit has passed,
  // by default 60 s; timeoutMs Infinity is for a program that waits for its robot for ever.
  // Data and ages start anew; motor power, odometry and velocity control belong to the robot and are not touched. If
  // the server has listed its devices before, it is asked for them again. An error of kind refused, whose reasons have
  // the word moved, means that one of their bytes means another device now: no device is open, so open them again by
  // their names.
  async reconnect(options = undefined) {
    const limit = Limit.of(options, RECONNECT_LIMIT);
    let wanted = this.wanted();
    let why; // of the last attempt that the time limit has not cut short
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      this.close();
      try {
        await this.#open(limit.within(CONNECT_LIMIT));
        this.restoreSettings();
        if (this.listed() !== null) {
          await this.devices(limit.within(REQUEST_LIMIT));
          try {
            this.checkSame();
          } catch (e) {
            wanted = "";
            throw e;
          }
        }
        if (wanted !== "") await this.request(wanted, limit.within(REQUEST_LIMIT));
        this.restoreFreshness();
        return;
      } catch (e) {
        if (e.kind === "refused") {
          this.wants(wanted); // a device that is refused now is requested again next time
          this.restoreFreshness();
        }
        const passing = e instanceof PlayerError && (e.kind === "closed" || e.kind === "timeout");
        if (!passing) throw e;
        if (why === undefined || limit.leftMs > 0) why = e;
        if (limit.leftMs <= pause) throw why;
      }
      await rest(pause, limit.signal);
    }
  }

  // wait receives until an event. The others are complete then, but not returned.
  async #wait(wanted, limit) {
    for (;;) {
      let event;
      try {
        event = this.nextEvent();
      } catch (e) {
        if (wanted === REPLY) continue; // has is false for that block
        throw e;
      }
      if (event === ROUND) this.dispatchEvent(new PlayerEvent("round"));
      if (event === wanted) return;
      if (event === null) this.receive(await this.#received(limit));
    }
  }

  async #received(limit) {
    const link = this.#connected();
    try {
      return await link.received(limit);
    } catch (e) {
      if (e instanceof ClosedError && link === this.#link) this.dispatchEvent(new PlayerEvent("closed", e));
      throw e;
    }
  }

  #transmit(message) {
    this.#connected().send(message);
  }

  #connected() {
    if (this.#link === null) throw new ClosedError("not connected");
    return this.#link;
  }
}

// rest waits. It throws the reason of the signal, as every wait.
async function rest(ms, signal) {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    signal.throwIfAborted();
  }
}

// A Link is a socket whose bytes are taken when they are wanted: bytes that the program does not read wait
// in the kernel, and the server sends no more than that.
class Link {
  #socket;
  #connected = false;
  #wait = new Wait();

  constructor(host, port, tlsOptions) {
    try {
      this.#socket = tlsOptions ? tls.connect({ ...tlsOptions, host, port }) : net.createConnection({ host, port, autoSelectFamily: true });
      this.#socket.setNoDelay(true); // send commands at once
    } catch (e) { // the port, or a file that is no certificate
      throw new ClosedError(`${host}:${port}: ${e.message}`);
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

  async connected(limit) {
    await this.#wait.until(limit, () => this.#connected, "the server did not answer in time");
  }

  // received waits for bytes and returns them.
  async received(limit) {
    let bytes = null;
    await this.#wait.until(limit, () => (bytes = this.#socket.read()) !== null, "nothing more arrived in time");
    return bytes;
  }

  send(message) {
    this.#wait.open();
    if (this.#socket.writableLength > UNSENT_LIMIT) {
      this.#wait.ended = "cannot send: the network takes nothing";
      this.#socket.destroy();
      throw new ClosedError(this.#wait.ended);
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
