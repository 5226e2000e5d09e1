// The client for pages in a browser. A browser cannot open a TCP connection, so this one uses the
// WebSockets of the server's dashboard (-http), which connects to robots for it. It also runs in Node.js
// from version 22.
//
// Compared with PlayerClient, the dashboard decides some things:
//   - access: request opens devices for reading and closes them; write access is taken by the first
//     command, and given up when none follows for three seconds;
//   - rounds have only new data, and always ages; a slow program gets the newest data, and dropped
//     counts the rounds that were merged into later ones;
//   - the robot stops 0.4 s after the last setSpeed: repeat it in each round;
//   - the dashboard accepts pages of its own address only. README.md has a small server for yours.

import { firstOf, grantedOf, NO_AGE, pairsOf, PlayerEvent, Robot } from "./data.js";
import { ClosedError, compare, UsageError } from "./errors.js";
import { Limit, READ_LIMIT, Wait } from "./wait.js";

export { ClosedError, PlayerError, ProtocolError, RefusedError, TimeoutError, UsageError } from "./errors.js";
export { GRIPPER, PlayerEvent } from "./session.js";

// CONNECT_LIMIT is how long the dashboard may take to accept, in ms.
const CONNECT_LIMIT = 10_000;
// REQUEST_LIMIT is how long the reply to a request may take, in ms: the dashboard waits 40,000 for the
// robot.
const REQUEST_LIMIT = 60_000;
// MAX_WAITING is how many commands may wait until the socket for them is open.
const MAX_WAITING = 64;

// A DashboardClient reads and commands one robot through a dashboard:
//
//   const robot = new DashboardClient("ws://localhost:8080", "localhost:6665");
//   await robot.connect();
//   await robot.request({ sonar: "read" });
//   for await (const { sonar } of robot) robot.setSpeed(100, sonar[3] < 500 ? 20 : 0); // mm/s, deg/s
//
// It has the options, errors and events of PlayerClient.
export class DashboardClient extends Robot {
  #Socket;
  #stream = null; // sockets of the dashboard: data
  #drive = null; // and commands
  #waiting = []; // commands until #drive is open
  #wait = new Wait("not connected"); // for the stream
  #messages = []; // received and not read: the dashboard sends at most three
  #awaited = 0; // reports still to come
  #access = {};
  #refused = {}; // why access is e, by device
  #ages = new Map();
  #new = "";

  // dashboard is the address of the server's dashboard, ws://host:port, by default the one of the page.
  // robot is the address of the robot as the dashboard sees it. Socket is the class of WebSockets.
  constructor(dashboard = globalThis.location?.origin.replace("http", "ws"), robot = "localhost:6665", Socket = globalThis.WebSocket) {
    super();
    this.dashboard = dashboard;
    this.robot = robot;
    this.dropped = 0; // rounds that were merged into later ones
    this.held = ""; // letters of the devices to which this client has write access
    this.commandError = null; // why the last command that failed did, or why the dashboard stopped the robot
    this.#Socket = Socket;
  }

  // connect opens the stream of data. An earlier connection is closed.
  async connect(options = undefined) {
    const limit = Limit.of(options, CONNECT_LIMIT);
    this.close();
    this.clearData();
    [this.#wait.ended, this.#messages, this.#awaited, this.#access, this.#new] = [null, [], 0, {}, ""];
    this.#ages.clear();
    let open = false;
    this.#stream = this.#socket("stream", (message) => this.#received(message), (why) => this.#ended(why), () => (open = true));
    await this.#wait.until(limit, () => open, "the dashboard did not answer in time");
  }

  #ended(why) {
    this.#wait.ended = why;
    this.dispatchEvent(new PlayerEvent("closed", new ClosedError(why)));
  }

  // socket opens a socket of the dashboard. It calls the functions for each message, at the end, and at
  // the beginning.
  #socket(path, message, end, open = () => {}) {
    let socket;
    try {
      socket = new this.#Socket(`${this.dashboard}/${path}?robot=${encodeURIComponent(this.robot)}`);
    } catch (e) { // the address
      throw new ClosedError(e.message);
    }
    socket.binaryType = "arraybuffer";
    const during = (handle) => (event) => {
      handle(event);
      this.#wait.wake();
    };
    socket.onopen = during(open);
    socket.onmessage = during((event) => message(event.data));
    // Events of a socket that was replaced are not delivered: close removes the handlers.
    socket.onclose = during((event) => end(event.reason || "the dashboard closed the connection"));
    return socket;
  }

  // close ends both connections. The dashboard then stops the robot if this client drives it.
  close() {
    for (const socket of [this.#stream, this.#drive]) {
      if (socket) {
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.close();
      }
    }
    this.#stream = this.#drive = null;
    this.#waiting = [];
    this.#wait.ended = "not connected";
    this.held = "";
    this.#wait.wake();
  }

  #received(message) {
    if (typeof message !== "string") {
      this.#messages.push(message);
      return;
    }
    ({ access: this.#access, refused: this.#refused = {} } = JSON.parse(message));
    this.#awaited = Math.max(0, this.#awaited - 1);
  }

  // request opens devices for reading or closes them, and returns the granted access in the same form: { sonar: "read",
  // laser: "close" }, or letters, "srlc". It throws a RefusedError if that is less, with the robot's reasons.
  async request(wanted, options = undefined) {
    const limit = Limit.of(options, REQUEST_LIMIT);
    const pairs = pairsOf(wanted, (name) => (name.length === 1 ? name : firstOf(name) ?? noLetter(name)));
    if (!/^([^y][rc])*$/.test(pairs)) {
      throw new UsageError(`request "${pairs}": want pairs of a device and r or c; commands need no request`);
    }
    this.#send({ request: pairs });
    if (pairs === "") return grantedOf(wanted, ""); // the dashboard does not answer it
    this.#awaited++;
    await this.#wait.until(limit, () => this.#awaited === 0, "no reply in time");
    const granted = pairs.replace(/(.)./g, (_, device) => device + (this.#access[device] ?? "e"));
    if (typeof wanted === "string") return compare(pairs, granted, this.#refused);
    const nameOf = (letter) => Object.keys(wanted)[pairs.indexOf(letter) / 2];
    const reasons = Object.fromEntries(Object.entries(this.#refused).map(([letter, why]) => [nameOf(letter), why]));
    return grantedOf(wanted, compare(pairs, granted, reasons, nameOf));
  }

  // read waits for one round of new data, at most 10 s.
  async read(options = undefined) {
    await this.#wait.until(Limit.of(options, READ_LIMIT), () => this.#messages.length > 0, "nothing more arrived in time");
    const message = this.#messages.shift();
    const d = new DataView(message);
    // The acknowledgement: the dashboard sends at most three messages ahead of it.
    if (this.#wait.ended === null) this.#stream.send(message.slice(0, 4));
    this.dropped = d.getUint32(4);
    this.#new = "";
    let error = null;
    for (let at = 8; at < message.byteLength; ) {
      const letter = String.fromCharCode(d.getUint8(at)), age = d.getUint32(at + 1), size = d.getUint16(at + 5);
      at += 7;
      this.#new += letter;
      this.#ages.set(letter, age === NO_AGE ? null : age);
      try {
        this.take(letter, new Uint8Array(message.slice(at, at + size)));
      } catch (e) {
        error ??= e;
      }
      at += size;
    }
    this.#new = [...this.#new].sort().join("");
    this.dispatchEvent(new PlayerEvent("round"));
    if (error) throw error;
  }

  // new has the letters of the devices with data in the newest round, sorted.
  get new() {
    return this.#new;
  }

  // ageUs returns the age of a device's data in us when the robot's server sent it, or null if it is
  // not known.
  ageUs(device) {
    return this.#ages.get(this.letterOf(device)) ?? null;
  }

  // access returns the access to a device for reading: r, c or e, or an empty string if it was never
  // requested.
  access(device) {
    return this.#access[this.letterOf(device)] ?? "";
  }

  // setFrequency sets the most rounds in a second.
  setFrequency(frequency) {
    this.#send({ rate: frequency });
  }

  #send(message) {
    this.#wait.open();
    this.#stream.send(JSON.stringify(message));
  }

  // Commands. They do not wait. The dashboard reports failures in commandError.

  // setSpeed drives the robot for 0.4 s: mm/s, positive is forward, and deg/s, positive is
  // counterclockwise.
  setSpeed(speed, turnrate) {
    this.#command({ drive: whole(speed, turnrate) });
  }

  // setPTZ points the camera: pan -100 to 100 deg counterclockwise, tilt -25 to 25 deg up, zoom 0 (wide)
  // to 1023 (telephoto).
  setPTZ(pan, tilt, zoom) {
    this.#command({ look: whole(pan, tilt, zoom) });
  }

  // setGripper moves the gripper: a command of GRIPPER. value is the argument of gripPress and
  // liftCarry, in steps of 20 ms.
  setGripper(command, value = 0) {
    this.#command({ grip: whole(command, value) });
  }

  // changeMotorState turns the power of the motors on or off, for all clients. Be careful: the robot may
  // start at once.
  changeMotorState(on) {
    this.#command({ motors: Boolean(on) });
  }

  // resetPosition sets the odometry to (0, 0, 0), for all clients.
  resetPosition() {
    this.#command({ reset: true });
  }

  // command sends a command on its own socket, which is opened by the first one.
  #command(command) {
    this.#wait.open();
    const text = JSON.stringify(command);
    if (this.#drive?.readyState === 1) { // open
      this.#drive.send(text);
      return;
    }
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(text);
    this.#drive ??= this.#socket(
      "drive",
      (message) => {
        const report = JSON.parse(message);
        this.held = report.held;
        this.commandError = report.error ?? this.commandError;
      },
      (why) => {
        this.#drive = null; // the next command tries again
        this.#waiting = [];
        this.held = "";
        this.commandError = why;
      },
      () => {
        for (const text of this.#waiting) this.#drive.send(text);
        this.#waiting = [];
      },
    );
  }
}

// whole rounds numbers. In JSON, NaN would be null, which the dashboard reads as zero.
function whole(...values) {
  if (!values.every(Number.isFinite)) throw new UsageError(`${values.join(", ")}: not all are numbers`);
  return values.map(Math.round);
}

function noLetter(name) {
  throw new UsageError(`the dashboard has no data of ${name}: it takes the first device of an interface with a letter`);
}
