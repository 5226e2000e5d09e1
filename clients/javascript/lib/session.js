// The core: everything about one connection except its input and output.
//
// A Session takes the bytes that the server sent (receive, nextEvent), and hands the bytes for the
// server to a function. node.js is a small example of the code around it.

import { blocks } from "./compact.js";
import {
  ANY_HEADING, CHANNELS, firstOf, grantedOf, interfaceOfLetter, LETTERS, MAX_CHANNELS, MAX_READINGS, NO_AGE, pairsOf, Robot, UNKNOWN,
} from "./data.js";
import { compare, isReply, ProtocolError, RefusedError, UsageError } from "./errors.js";

export { FIX, Goto, GOTO_STATE, NOTHING_IN_RANGE, PlayerEvent, UNKNOWN_RANGE } from "./data.js";
export { ClosedError, GotoError, PlayerError, ProtocolError, RefusedError, TimeoutError, UsageError } from "./errors.js";

// The events that nextEvent finds.
export const ROUND = "round"; // a whole round of data
export const REPLY = "reply"; // the reply to the last request

// Modes of setDataMode: when the server sends rounds.
export const CONTINUOUS = 0; // at its frequency: the default
export const REQUEST_REPLY = 1; // one for each requestData

// Modes of changeVelocityControl: how the robot's microcontroller drives.
export const DIRECT_WHEEL_VELOCITY = 0; // faster, jerkier: the default
export const SEPARATE_TRANS_ROT = 1; // smoother, slower

// GRIPPER has the commands of setGripper (PROTOCOL 5.1).
export const GRIPPER = Object.freeze({
  gripOpen: 1, gripClose: 2, gripStop: 3, liftUp: 4, liftDown: 5, liftStop: 6, gripStore: 7, gripDeploy: 8,
  gripHalt: 15, gripPress: 16, liftCarry: 17,
});

// ALL_JOINTS is the joint of moveJoint that is all of them (PROTOCOL 5.1).
export const ALL_JOINTS = 255;

// MAX_PAYLOAD is the size of the largest message in bytes: the server skips larger ones (PROTOCOL 1.5).
const MAX_PAYLOAD = 512;
// NAME is at most 64 bytes of printable ASCII (PROTOCOL 8.3).
const NAME = /^[ -~]{0,64}$/;
// MAX_INT is the largest number of 32 bits with a sign.
const MAX_INT = 2 ** 31 - 1;
// ADDRESS is the name of a device: an interface, and perhaps an index.
const ADDRESS = /^([^:]+)(?::([0-9]{1,9}))?$/;

const readable = (access) => access === "r" || access === "a";
const writable = (access) => access === "w" || access === "a";
const usage = (text) => new UsageError(text);
const text = (bytes) => String.fromCharCode(...bytes);

// A Session is one connection to a server. Devices are named by their letters:
//
//   p position, s sonar, l laser, m misc, g gripper, z ptz, v vision, j joystick, y freshness: the server
//
// and every method also takes these names.
//
// A robot may have more: further ones of an interface, and rangers, IMUs and others that have no letter (PROTOCOL
// 2.11). They have names, laser:1, or imu, which means imu:0. Once the server has listed its devices (open or devices
// of PlayerClient), every method takes a name in place of a letter. data has their data.
export class Session extends Robot {
  #send;
  #buffer;
  #devices; // access, round and taken (us since the server started) by letter
  #readers; // devices open for reading
  #aged; // device y is one of them
  #awaited; // replies still to come
  #reply; // the last one
  #refused; // the reply that explain asks about
  #answer; // the newest answer to a question, of all its messages
  #items; // the rest of a compact round, or null
  #round; // number of the current round, or of the last one
  #left; // blocks missing from this round
  #fresh;
  // The state of a lost connection.
  #wanted; // access by letter, in the order of first opening
  #settings; // arguments of configurations of this client by code
  #listed; // the devices of the robot; null: the server has not listed them
  #seen = new Map(); // names by characters that were listed, also before the server was started anew

  // send is called with each message for the server, a Uint8Array.
  constructor(send) {
    super();
    this.#send = send;
    this.forget();
    this.reset();
  }

  // forget drops the state for restoreSettings, wanted and restoreFreshness.
  forget() {
    this.#wanted = new Map();
    this.#settings = new Map();
    this.#listed = null;
    this.#seen = new Map();
  }

  // reset starts a new connection.
  reset() {
    this.clearData();
    this.#buffer = new Uint8Array(0);
    this.#devices = new Map();
    this.#readers = 0;
    this.#aged = false;
    this.#awaited = 0;
    this.#reply = "";
    this.#refused = "";
    this.#answer = "";
    this.#items = null;
    this.#round = 0;
    this.#left = 0;
    this.#fresh = false;
  }

  // The server's input

  // receive adds bytes from the server. Call nextEvent until it returns null before the next
  // receive; then a session holds at most one incomplete message, 64 KiB.
  receive(bytes) {
    const joined = new Uint8Array(this.#buffer.length + bytes.length);
    joined.set(this.#buffer);
    joined.set(bytes, this.#buffer.length);
    this.#buffer = joined;
  }

  // nextEvent returns ROUND or REPLY, or null if more bytes are needed. It throws an error of kind
  // protocol for a block with an invalid payload; the next call continues after that block.
  nextEvent() {
    for (;;) {
      if (this.#items !== null) {
        const { done, value } = this.#items.next();
        if (done) this.#items = null;
        else if (this.#takeBlock(String.fromCharCode(value[0]), value[1])) return ROUND;
        continue;
      }
      const b = this.#buffer;
      const end = b.length < 3 ? Infinity : 3 + b[1] * 256 + b[2];
      if (end > b.length) return null;
      this.#buffer = b.subarray(end);
      const letter = String.fromCharCode(b[0]), payload = b.slice(3, end);
      if (letter === "r") {
        if (this.#takeReply(text(payload))) return REPLY;
      } else if (letter === "Y") {
        const answer = text(payload).replace(/[^\n -~]/g, "?"); // people see it on terminals
        const goesOn = answer !== "" && answer[0] === this.#answer[0];
        this.#answer = goesOn ? this.#answer + answer.slice(1) : answer;
      } else if (letter === "Z") {
        this.#items = blocks(payload, (code) => this.#interfaceOf(String.fromCharCode(code)));
      } else if (this.#takeBlock(letter, payload)) {
        return ROUND;
      }
    }
  }

  // takeReply stores the granted access. The next block starts a round. It reports whether no other
  // reply is awaited.
  #takeReply(reply) {
    this.#awaited = Math.max(0, this.#awaited - 1);
    this.#left = 0;
    this.#reply = reply;
    for (let i = 0; i + 1 < reply.length; i += 2) {
      const access = reply[i + 1];
      this.#device(reply[i]).access = access;
      if (readable(access) || writable(access)) this.#wanted.set(reply[i], access);
      else if (access === "c") this.#wanted.delete(reply[i]);
    }
    this.#readers = 0;
    for (const d of this.#devices.values()) if (readable(d.access)) this.#readers++;
    this.#aged = readable(this.access("y"));
    return this.#awaited === 0;
  }

  // takeBlock stores one block and reports whether it completes a round.
  #takeBlock(letter, payload) {
    const d = this.#device(letter);
    let error = null;
    try {
      this.take(letter, payload, this.#interfaceOf(letter));
    } catch (e) {
      error = e;
    }
    let whole = false;
    if (!this.#aged) {
      whole = this.#count(d);
    } else {
      try {
        whole = this.#countAged(letter, d);
      } catch (e) {
        error ??= e;
      }
    }
    if (error) throw error;
    return whole;
  }

  // count counts a block of a round without device y: a round has as many blocks as devices are
  // read. A second block of one device starts the next round.
  #count(d) {
    if (!readable(d.access)) return false;
    if (this.#left === 0 || d.round === this.#round) {
      this.#round++;
      this.#left = this.#readers;
    }
    d.round = this.#round;
    return --this.#left === 0;
  }

  // countAged counts a block of a round with device y: its block comes first and has an age for each
  // block that follows.
  #countAged(letter, d) {
    if (letter === "y") {
      this.#round++;
      this.#left = 0;
      if (!this.has("y")) throw new ProtocolError("a block of device y has no data");
      d.round = this.#round;
      this.#left = this.freshness.ages.length;
      return this.#left === 0;
    }
    if (this.#left === 0) {
      throw new ProtocolError(`a block of device ${letter} without a block of device y before it`);
    }
    const { time, ages } = this.freshness;
    const age = ages[ages.length - this.#left];
    d.taken = age === NO_AGE ? null : time - age;
    d.round = this.#round;
    return --this.#left === 0;
  }

  #device(letter) {
    let d = this.#devices.get(letter);
    if (!d) this.#devices.set(letter, (d = { access: "", round: 0, taken: null }));
    return d;
  }

  // interfaceOf returns the interface of a device by its character, or an empty string; freshness for y.
  #interfaceOf(letter) {
    return interfaceOfLetter(letter) || (this.#listed?.find((d) => d.code === letter)?.interface ?? "");
  }

  // listedAs returns the character of a device that the server has listed, by its name.
  #listedAs(name) {
    const [, interfaceName, index = 0] = ADDRESS.exec(name) ?? [];
    return this.#listed?.find((d) => d.interface === interfaceName && d.index === Number(index))?.code;
  }

  // nameOf returns the name of a device that the server has listed, if it has no letter; otherwise its letter.
  #nameOf(letter) {
    const listed = this.#listed?.find((d) => d.code === letter && LETTERS[d.interface] !== letter)?.name;
    return listed ?? (/^[a-z]$/i.test(letter) ? letter : this.#seen.get(letter) ?? letter); // removed by a reload
  }

  // wordFor returns the name of a device in a request.
  #wordFor(device) {
    const interfaceName = device.length === 1 ? interfaceOfLetter(device) : device;
    return /^\w+$/.test(interfaceName) ? interfaceName : `"${interfaceName || device}"`;
  }

  // meant returns the character of a device by its name in an answer, or null if it is not known.
  #meant(key) {
    const removed = [...this.#seen].find(([, name]) => name === key)?.[0]; // by a reload
    return this.#listedAs(key) ?? removed ?? (key.length === 1 ? key : null);
  }

  // called returns the name of a device here for its name in an answer, or null if it is not known.
  #called(key) {
    const letter = this.#meant(key);
    return letter && this.#nameOf(letter);
  }

  // letterOf returns the character of a device by its letter or name. Another text stays as it is.
  letterOf(device) {
    return device.length === 1 ? device : this.#listedAs(device) ?? super.letterOf(device);
  }

  // indexes returns the indexes of the devices of an interface that are known.
  indexes(interfaceName) {
    return this.#listed?.filter((d) => d.interface === interfaceName).map((d) => d.index) ?? super.indexes(interfaceName);
  }

  // Ages

  // new has the letters of the devices with a block in the newest round, sorted. It is useful in
  // freshness mode (setFresh); otherwise every round has all devices. isNew takes a name.
  get new() {
    const letters = [];
    for (const [letter, d] of this.#devices) if (this.#round > 0 && d.round === this.#round) letters.push(letter);
    return letters.sort().join("");
  }

  // ageUs returns the age of a device's data in us when the server made the newest round. null:
  // device y is not read, or the device has no data yet. Ages above 71 minutes are reported as 71
  // minutes.
  ageUs(device) {
    const d = this.#devices.get(this.letterOf(device));
    return !d || d.taken === null || !this.#aged ? null : this.freshness.time - d.taken;
  }

  // access returns the access to a device from the server's last reply: r, w, a, c or e, or an empty
  // string if it was never requested.
  access(device) {
    return this.#devices.get(this.letterOf(device))?.access ?? "";
  }

  // Requests

  // needsDevices reports whether pairsOf needs question d before it, because a device has no letter.
  needsDevices(wanted) {
    if (typeof wanted === "string") return false;
    return Object.keys(wanted).some((name) => name.length > 1 && firstOf(name) === undefined && !this.isListed(name));
  }

  // pairsOf returns the pairs of a request: wanted is text, "srpw", or an access by the name of a device,
  // { sonar: "read", "laser:1": "read", position: "write" }. It throws errors as codeOf does, and an error of kind usage
  // for an access that is none of read, write, all and close.
  pairsOf(wanted) {
    return pairsOf(wanted, (name) => (name.length === 1 ? name : firstOf(name) ?? this.codeOf(name)));
  }

  // grantedOf returns the result of finishRequest in the form of the request, as words by names.
  grantedOf(wanted, pairs) {
    return grantedOf(wanted, pairs);
  }

  // startRequest sends a device request. REPLY follows.
  startRequest(pairs) {
    if (pairs.length % 2 !== 0) throw usage(`request "${pairs}" does not consist of pairs of device and access`);
    this.#refused = "";
    this.#message("dr", bytes(pairs));
    this.#awaited++;
  }

  // explain asks the server, after REPLY, why devices were refused (PROTOCOL 8.9). If it returns true,
  // REPLY follows once more, and finishRequest has the reasons.
  explain(pairs) {
    const refused = (_, i) => i % 2 === 1 && this.#reply[i] === "e" && pairs[i] !== "e";
    if (!isReply(pairs, this.#reply) || ![...pairs].some(refused)) return false;
    this.#refused = this.#reply;
    this.startQuestion("e");
    return true;
  }

  // startQuestion asks a question of PROTOCOL 8.9. REPLY follows, after the answer.
  startQuestion(question) {
    this.#answer = "";
    this.configure("y", bytes("q" + question));
    this.#message("dr", bytes("")); // every server replies to it, and the answer comes before
    this.#awaited++;
  }

  // finishGeometry returns the parts of the robot after the REPLY to question g.
  finishGeometry() {
    return parts(this.#answer, (key) => this.#called(key));
  }

  // finishDevices returns the devices of the robot after the REPLY to question d, and remembers them: from then on
  // every method takes their names. An older server lists none.
  finishDevices() {
    if (this.#answer[0] !== "d") return [];
    this.#listed = devices(this.#answer);
    for (const d of this.#listed) if (!this.#seen.has(d.code)) this.#seen.set(d.code, d.name);
    return [...this.#listed];
  }

  // finishRays returns where readings look from and to after the REPLY to question r.
  finishRays() {
    return rays(this.#answer, (key) => this.#called(key));
  }

  // finishChannels returns the inputs, outputs and joints of the robot after the REPLY to question i.
  finishChannels() {
    return channels(this.#answer, (key) => this.#called(key));
  }

  // isListed reports whether the server has listed a device of this name, for example laser:1. If not, codeOf needs
  // question d before it. It throws an error of kind usage for a value that cannot be a name.
  isListed(name) {
    if (!ADDRESS.test(name)) throw usage(`"${name}" is no device: write an interface, or with an index, laser:1`);
    return this.#listedAs(name) !== undefined;
  }

  // codeOf returns the character of a device by its name, for startRequest, after the REPLY to question d. It throws an
  // error of kind refused if the robot has no such device; of an older server, devices with a letter are taken to be
  // there.
  codeOf(name) {
    const listed = this.#listedAs(name);
    if (listed !== undefined) return listed;
    const [, interfaceName, index = 0] = ADDRESS.exec(name) ?? [];
    const older = this.#answer[0] !== "d";
    if (older && Number(index) === 0 && Object.hasOwn(LETTERS, interfaceName)) return LETTERS[interfaceName];
    const names = this.#listed?.map((d) => d.name).join(", ");
    const text = older ? "this server has only the devices of 0.7.4a" : `the robot has ${names}`;
    const asked = `${interfaceName}:${Number(index)}`;
    throw new RefusedError(`no such device: ${asked}: ${text}`, "", { [asked]: { why: "missing", text } });
  }

  // finishColors returns the colours of the channels of vision after the REPLY to question v.
  finishColors() {
    return colors(this.#answer, (key) => this.#called(key));
  }

  // finishRequest returns the granted pairs after REPLY. It throws an error of kind refused if they
  // are less than those asked for, with the reasons that explain has asked for. wanted is the argument of pairsOf: its
  // names are the names of the reasons.
  finishRequest(pairs, wanted = pairs) {
    const names = new Map(typeof wanted === "string" ? [] : Object.keys(wanted).map((name, i) => [pairs[2 * i], name]));
    const nameOf = (letter) => names.get(letter) ?? this.#nameOf(letter);
    if (!this.#refused) return compare(pairs, this.#reply, {}, nameOf);
    const called = (key) => {
      const letter = this.#meant(key);
      return letter && nameOf(letter);
    };
    return compare(pairs, this.#refused, reasons(this.#answer, called), nameOf);
  }

  // checkReadable throws an error if the server sends no rounds in the present state.
  checkReadable() {
    if (this.#awaited > 0) return;
    if (this.#readers === 0) throw usage('no device is open for reading: request one first, for example { sonar: "read" }');
    if (this.#fresh && !this.#aged) throw usage('freshness mode needs device y, the server: request { freshness: "read" } first');
  }

  // Commands. They do not wait, and the server does not answer them.

  // setSpeed drives the robot: mm/s, positive is forward, and deg/s, positive is counterclockwise. It
  // is in force until the next call. The server and the robot limit both speeds.
  setSpeed(speed, turnrate) {
    this.command("p", shorts(speed, turnrate));
  }

  // setPTZ points the camera: pan -100 to 100 deg, positive is counterclockwise; tilt -25 to 25 deg,
  // positive is up; zoom 0 (wide) to 1023 (telephoto).
  setPTZ(pan, tilt, zoom) {
    this.command("z", shorts(pan, tilt, zoom));
  }

  // setGripper moves the gripper: a command of GRIPPER. value is the argument of gripPress and
  // liftCarry, in steps of 20 ms.
  setGripper(command, value = 0) {
    for (const v of [command, value]) {
      if (!Number.isInteger(v) || v < 0 || v > 255) throw usage(`gripper command ${command} ${value}: both are bytes`);
    }
    this.command("g", Uint8Array.of(command, value));
  }

  // setOutput sets an output of an io device, for example "io", to a value in the unit of the output (channels); a
  // digital one to 0 or 1. The server limits the value, and ignores a channel that is no output. It throws an error of
  // kind usage if the device is not open for writing, or if channel is not a byte, or value not of 32 bits.
  setOutput(device, channel, value) {
    this.command(device, packed([channel, 0, 255], [value, UNKNOWN, MAX_INT]));
  }

  // moveJoint moves a joint of a servo device, for example "servo", to a goal in the unit of the joint (channels), at a
  // speed in that unit each second; 0: as its driver moves it. goal null: it stops where it is. Joint ALL_JOINTS is all
  // of them. It throws errors as setOutput does; the speed has no sign.
  moveJoint(device, joint, goal, speed = 0) {
    this.command(device, packed([joint, 0, 255], [goal ?? UNKNOWN, UNKNOWN, MAX_INT], [speed, 0, 2 ** 32 - 1]));
  }

  // stopJoints stops all joints of a servo device where they are.
  stopJoints(device) {
    this.moveJoint(device, ALL_JOINTS, null);
  }

  // setGoal has a goto device drive to a goal (PROTOCOL 5.6), around obstacles: xMm and yMm in the frame of position;
  // headingDeg, counterclockwise, to which it turns in the end, or null for any; the highest speedMmPerS and
  // turnRateDegPerS; toleranceMm, how far from the goal it has arrived; radiusMm, half of the narrowest gap that it is to
  // pass; and a tag, a number of 16 bits that the data repeats. Of the limits, 0 means what the device has. Numbers are
  // rounded. The goal ends when the robot has arrived, with any command to position, and when this client leaves. It
  // throws errors as setOutput does.
  setGoal(goal, device = "goto") {
    const { xMm, yMm, headingDeg = null, speedMmPerS = 0, turnRateDegPerS = 0, toleranceMm = 0, radiusMm = 0, tag = 0 } = goal;
    const heading = headingDeg === null ? ANY_HEADING : ((Math.round(headingDeg) % 360) + 360) % 360;
    const [x, y] = [xMm, yMm].map(Math.round);
    const limits = [speedMmPerS, turnRateDegPerS, toleranceMm, radiusMm, tag].map((v) => [Math.round(v), 0, 0xffff]);
    // The smallest x of 32 bits is the command to stop.
    this.command(device, packed([x, UNKNOWN + 1, MAX_INT], [y, UNKNOWN, MAX_INT], [heading, 0, 0xffff], ...limits));
  }

  // stopGoal has a goto device give its goal up, and stop the wheels if it drives.
  stopGoal(device = "goto") {
    this.command(device, packed([UNKNOWN, UNKNOWN, MAX_INT], [0, UNKNOWN, MAX_INT], ...new Array(6).fill([0, 0, 0xffff])));
  }

  // command sends a command of any layout to a device. Without write access it throws an error, since
  // the server would drop the command silently.
  command(device, payload) {
    if (!writable(this.access(device))) throw usage(`no write access to ${device}: request { ${this.#wordFor(device)}: "write" } first`);
    this.#message("c" + this.letterOf(device), payload);
  }

  // Configuration. The server does not answer it.

  // setDataMode selects when the server sends data to this client: CONTINUOUS or REQUEST_REPLY. read
  // still returns the rounds that were streamed before, unless request("") follows: its reply comes
  // after them.
  setDataMode(mode) {
    this.#configureServer("r", mode ? 1 : 0, [mode ? 1 : 0]);
  }

  // setFrequency sets the rate of this client's rounds in continuous mode, 1 to 65535 Hz. The default
  // is 10 Hz. The server may have a lower maximum.
  setFrequency(frequency) {
    if (!Number.isInteger(frequency) || frequency < 1 || frequency > 65535) {
      throw usage(`frequency ${frequency} Hz is not in 1 to 65535`);
    }
    this.#configureServer("f", frequency, [frequency >> 8, frequency & 255]);
  }

  // setCommandLifetime sets for how long a command of setSpeed is good, in ms, at most 60000: the wheels
  // stop unless it is repeated in time, also when this program hangs. A client with a lifetime yields: its
  // zero speeds stop only what it drives itself. 0: the commands are good until the client leaves
  // (PROTOCOL 5.5). 0.7.4a ignores it.
  setCommandLifetime(ms) {
    if (!Number.isInteger(ms) || ms < 0 || ms > 60000) throw usage(`a lifetime of ${ms} ms is not in 0 to 60000`);
    this.#configureServer("l", ms, [ms >> 8, ms & 255]);
  }

  // requestData asks for one round in request/reply mode. In continuous mode it has no effect.
  requestData() {
    this.configure("y", bytes("d"));
  }

  // setFresh turns freshness mode on or off for this client (PROTOCOL 8.2): a round then contains only
  // new data, and is sent only if there is some. It needs device y open for reading. Turn the mode off
  // before you close y.
  setFresh(on) {
    if (on && !this.#aged) throw usage('freshness mode needs device y, the server: request { freshness: "read" } first');
    this.#configureServer("n", on ? 1 : 0, [on ? 1 : 0]);
    this.#fresh = Boolean(on);
  }

  // setName sets the name by which people see this client: at most 64 bytes of printable ASCII. An empty
  // name removes it.
  setName(name) {
    if (!NAME.test(name)) throw usage(`"${name}" is not a name of at most 64 bytes of printable ASCII`);
    this.#configureServer("w", name, bytes(name));
  }

  // emergencyStop stops the robot for all, or releases the stop. While it holds, also when
  // this client has left, the server drops all commands of all clients. It needs no open device, but
  // the right to write; without it the server ignores the call.
  emergencyStop(on) {
    this.configure("y", Uint8Array.of(code("e"), on ? 1 : 0));
  }

  // changeMotorState turns the power of the motors on or off. Be careful: the robot may start at once.
  // This and the two calls below affect all clients, and have no effect unless position, sonar, misc
  // or gripper is open.
  changeMotorState(on) {
    this.configure("p", Uint8Array.of(code("m"), on ? 1 : 0));
  }

  // resetPosition sets the odometry to (0, 0, 0).
  resetPosition() {
    this.configure("p", bytes("R"));
  }

  // changeVelocityControl selects how the wheels follow setSpeed.
  changeVelocityControl(mode) {
    this.configure("p", Uint8Array.of(code("v"), mode ? 1 : 0));
  }

  // configure sends a configuration of any layout to a device: a code and its argument. It needs no
  // access.
  configure(device, payload) {
    this.#message("x" + this.letterOf(device), payload);
  }

  #configureServer(letter, argument, encoded) {
    this.#settings.set(letter, argument);
    this.configure("y", Uint8Array.of(code(letter), ...encoded));
  }

  // Reconnecting

  // wanted returns the request that opens the devices again that were open before the connection was lost.
  wanted() {
    return [...this.#wanted].flat().join("");
  }

  // wants sets the result of wanted.
  wants(pairs) {
    this.#wanted = new Map((pairs.match(/../gs) ?? []).map((pair) => [...pair]));
  }

  // listed returns the devices that the server has listed, or null if it was not asked.
  listed() {
    return this.#listed;
  }

  // checkSame throws an error of kind refused, and forgets what was open, if a byte means another device than it has
  // meant since the devices were opened. A device may have been away meanwhile.
  checkSame() {
    const names = this.#seen;
    const moved = this.#listed.filter((d) => names.get(d.code) !== d.name);
    if (moved.length === 0) return;
    this.wants("");
    this.#seen = new Map(this.#listed.map((d) => [d.code, d.name]));
    const text = "the server was started anew with other devices: open them again by their names";
    const reasons = Object.fromEntries(moved.map((d) => [names.get(d.code), { why: "moved", text }]));
    throw new RefusedError(text, "", reasons);
  }

  // asksForData reports whether this client is in request/reply mode.
  get asksForData() {
    return Boolean(this.#settings.get("r"));
  }

  // restoreSettings sends the name, and when rounds come, before the devices are requested.
  restoreSettings() {
    if (this.#settings.get("w")) this.setName(this.#settings.get("w"));
    if (this.#settings.has("f")) this.setFrequency(this.#settings.get("f"));
    if (this.#settings.get("l")) this.setCommandLifetime(this.#settings.get("l"));
    if (this.#settings.get("r")) this.setDataMode(REQUEST_REPLY);
  }

  // restoreFreshness sends freshness mode, after device y was requested.
  restoreFreshness() {
    if (this.#settings.get("n") && this.#aged) this.setFresh(true);
  }

  #message(kind, payload) {
    if (kind.length !== 2) throw usage(`"${kind.slice(1)}" is not the letter of a device`);
    if (payload.length > MAX_PAYLOAD) {
      throw usage(`a message has ${payload.length} bytes, a server takes ${MAX_PAYLOAD}`);
    }
    this.#send(Uint8Array.of(...bytes(kind), payload.length >> 8, payload.length & 255, ...payload));
  }
}

// reasons returns the reasons of an answer, by device.
function reasons(answer, called) {
  const found = Object.create(null);
  for (const line of lines(answer)) {
    const [, key, why, text] = /^(\S+) (\S+) (.*)$/s.exec(line) ?? [];
    const device = key && called(key);
    if (device) found[device] ??= { why, text };
  }
  return found;
}

const lines = (answer) => answer.slice(1).split("\n");

// parts returns the parts of an answer to question g. Lines of another form are skipped, and so are fields that a
// later server adds to a line.
function parts(answer, called) {
  const found = [];
  for (const line of lines(answer)) {
    const [key, ...words] = line.split(" "), device = called(key);
    const [number, x, y, heading, length, width, range, view] = words.map(Number);
    if (device && Number.isInteger(number) && [x, y, heading, length, width, range, view].every(Number.isFinite)) {
      found.push({ device, number, x, y, heading, length, width, range, view });
    }
  }
  return found;
}

// devices returns the devices of an answer to question d. Lines that are none are skipped.
function devices(answer) {
  const found = [];
  for (const line of lines(answer)) {
    const [, byte, interfaceName, index, driver] = /^([0-9]{1,3}) ([^ :]+) ([0-9]{1,9}) (.*)$/.exec(line) ?? [];
    if (!(byte >= 1 && byte <= 255)) continue;
    const name = `${interfaceName}:${Number(index)}`;
    found.push({ code: String.fromCharCode(byte), interface: interfaceName, index: Number(index), driver, name });
  }
  return found;
}

// rays returns the rays of an answer to question r, as parts does.
function rays(answer, called) {
  const found = [];
  for (const line of lines(answer)) {
    const [key, ...words] = line.split(" "), device = called(key), numbers = words.slice(0, 9).map(Number);
    const [first, count, xMm, yMm, headingDeg, stepDeg, near, far, coneDeg] = numbers;
    if (!device || numbers.length < 9 || !numbers.every(Number.isFinite)) continue;
    if (![first, count].every(Number.isInteger) || first < 0 || count < 1 || first + count > MAX_READINGS) continue;
    const nearMm = near || null, farMm = far || null;
    found.push({ device, first, count, xMm, yMm, headingDeg, stepDeg, nearMm, farMm, coneDeg });
  }
  return found;
}

// channels returns the channels of an answer to question i. Lines that are none are skipped.
function channels(answer, called) {
  const known = (value) => (Number(value) === UNKNOWN ? null : Number(value));
  const found = [];
  for (const line of lines(answer)) {
    const [, key, number, role, word, min, max, name] = CHANNEL.exec(line) ?? [];
    const device = key && called(key), unit = word === "-" ? null : word;
    if (!device || number >= MAX_CHANNELS) continue;
    found.push({ device, number: Number(number), role: /** @type {"input" | "output" | "joint"} */ (role), unit, min: known(min), max: known(max), name });
  }
  return found;
}

// colors returns the colours of an answer to question v. Lines that are none are skipped.
function colors(answer, called) {
  const found = [];
  for (const line of lines(answer)) {
    const [, key, channel, color] = /^(\S+) ([0-9]{1,2}) ([0-9a-f]{6})(?: |$)/i.exec(line) ?? [];
    const device = key && called(key);
    if (device && Number(channel) < CHANNELS) found.push({ device, channel: Number(channel), color: `#${color.toLowerCase()}` });
  }
  return found;
}

const CHANNEL = /^(\S+) ([0-9]{1,3}) (input|output|joint) (\S+) (-?[0-9]{1,10}) (-?[0-9]{1,10}) (.*)$/;

const code = (letter) => letter.charCodeAt(0);

function bytes(letters) {
  if (/[\u0100-\uffff]/.test(letters)) throw usage(`"${letters}" has a character that is not a byte`);
  return Uint8Array.from(letters, code);
}

// packed encodes whole numbers, each with its smallest and its largest value, in one byte, two or four.
function packed(...numbers) {
  const encoded = [];
  for (const [value, least, most] of numbers) {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw usage(`${value} is not in ${least} to ${most}`);
    }
    if (most === 255) encoded.push(value);
    else if (most === 0xffff) encoded.push(value >> 8, value & 255);
    else encoded.push(value >>> 24, value >>> 16, value >>> 8, value >>> 0);
  }
  return Uint8Array.from(encoded);
}

// shorts encodes values as i16. Values beyond it are clipped, so that a speed never changes sign. As
// i16 NaN would be a zero, and infinity full speed, so both are errors.
function shorts(...values) {
  if (!values.every(Number.isFinite)) throw usage(`${values.join(", ")}: not all are numbers`);
  const d = new DataView(new ArrayBuffer(2 * values.length));
  values.forEach((v, i) => d.setInt16(2 * i, Math.max(-32768, Math.min(Math.trunc(v), 32767))));
  return new Uint8Array(d.buffer);
}
