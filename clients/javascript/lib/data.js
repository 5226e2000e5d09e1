// The data of the devices (PROTOCOL 7 and 8.1), and their decoding. All values are in the
// protocol's units: mm, degrees, mm/s, deg/s. x is forward, y is to the left, and angles increase
// counterclockwise.

import { ProtocolError, UsageError } from "./errors.js";

export const SONARS = 16;
export const LASER_READINGS = 361;
export const CHANNELS = 32;
export const MAX_BLOBS = 10;

// NO_AGE is the age of a device that has no data yet (PROTOCOL 8.1).
export const NO_AGE = 0xffffffff;

// The decoders take a DataView of a payload of the right size; 0 is any size.
const devices = {
  p: ["position", 21, position],
  s: ["sonar", 2 * SONARS, ranges],
  l: ["laser", 2 * LASER_READINGS, ranges],
  m: ["misc", 3, misc],
  g: ["gripper", 2, (d) => new Gripper(d.getUint8(0), d.getUint8(1))],
  z: ["ptz", 6, (d) => ({ pan: d.getInt16(0), tilt: d.getInt16(2), zoom: d.getInt16(4) })],
  j: ["joystick", 20, joystick],
  v: ["vision", 0, vision],
  y: ["freshness", 0, freshness],
};

// Those of interfaces without letters, by interface.
const others = {
  ranger: ["ranger", 0, ranger],
  imu: ["imu", 36, imu],
  gps: ["gps", 38, gps],
  io: ["io", 0, io],
  servo: ["servo", 0, servo],
  goto: ["goto", 18, goto],
};

const byInterface = { ...Object.fromEntries(Object.values(devices).map((device) => [device[0], device])), ...others };

// LETTERS has the letters of the devices with index 0, by interface.
export const LETTERS = Object.fromEntries(
  Object.entries(devices).filter(([letter]) => letter !== "y").map(([letter, [name]]) => [name, letter]),
);

// interfaceOfLetter returns the interface of a letter, freshness for y, or an empty string.
export const interfaceOfLetter = (letter) => devices[letter]?.[0] ?? "";

// EMPTY has the payloads without information of the devices whose size varies.
const EMPTY = { v: new Array(2 * CHANNELS).fill(1), y: 8 };

function misc(d) {
  const battery = d.getUint8(2);
  return { frontBumpers: d.getUint8(0), rearBumpers: d.getUint8(1), battery, voltage: battery };
}

function position(d) {
  return {
    time: d.getUint32(0), x: d.getInt32(4), y: d.getInt32(8), heading: d.getUint16(12),
    speed: d.getInt16(14), turnrate: d.getInt16(16), compass: d.getUint16(18), stall: d.getUint8(20),
  };
}

function ranges(d) {
  const list = new Uint16Array(d.byteLength / 2);
  for (let i = 0; i < list.length; i++) list[i] = d.getUint16(2 * i);
  return list;
}

// MAX_READINGS, MAX_CHANNELS and MAX_JOINTS are the most of a ranger, an io and a servo device (PROTOCOL 7).
export const MAX_READINGS = 8192, MAX_CHANNELS = 128, MAX_JOINTS = 64;

// Readings of Ranger.ranges that are no distance (PROTOCOL 7.9): nothing is in range; the reading was not taken, or its
// echo was no distance.
export const NOTHING_IN_RANGE = 0xfffe, UNKNOWN_RANGE = 0xffff;

// UNKNOWN is the protocol's number for a signed value that is not known, and UNKNOWN_AMOUNT for one without a sign
// (PROTOCOL 7.10, 7.11). Here it is null.
export const UNKNOWN = -(2 ** 31), UNKNOWN_AMOUNT = 0xffffffff;

// Ranger has the readings of any range sensor (PROTOCOL 7.9). Question rays says where each of them looks.
export class Ranger {
  constructor(unitMm, ranges) {
    this.unitMm = unitMm;
    this.ranges = ranges; // in units; or NOTHING_IN_RANGE, or UNKNOWN_RANGE
  }
  // mm returns a reading in mm. null: nothing is in range, or it was not taken.
  mm(reading) {
    const units = this.ranges[reading];
    return units < NOTHING_IN_RANGE ? units * this.unitMm : null;
  }
}

function wrongSize(name, d, want) {
  return new ProtocolError(`${name} payload has ${d.byteLength} bytes, want ${want}`);
}

function ranger(d) {
  if (d.byteLength < 2 || d.byteLength % 2 !== 0 || d.byteLength > 2 + 2 * MAX_READINGS) {
    throw wrongSize("ranger", d, `2 and 2 for each of up to ${MAX_READINGS} readings`);
  }
  const unit = d.getUint16(0);
  if (unit === 0) throw new ProtocolError("ranger payload has a unit of 0 mm");
  return new Ranger(unit, ranges(new DataView(d.buffer, d.byteOffset + 2, d.byteLength - 2)));
}

const signed = (d, at) => known(d.getInt32(at), UNKNOWN);
const amount = (d, at) => known(d.getUint32(at), UNKNOWN_AMOUNT);
const known = (value, unknown) => (value === unknown ? null : value);

function imu(d) {
  return {
    rollMdeg: signed(d, 0), pitchMdeg: signed(d, 4), yawMdeg: signed(d, 8),
    rollRateMdegPerS: signed(d, 12), pitchRateMdegPerS: signed(d, 16), yawRateMdegPerS: signed(d, 20),
    xMmPerS2: signed(d, 24), yMmPerS2: signed(d, 28), zMmPerS2: signed(d, 32),
  };
}

// FIX has how a receiver has found its position: from satellites alone, with corrections, by RTK that has not settled
// (some decimetres) or has (some centimetres), or estimated from the last fix.
export const FIX = Object.freeze({ none: 0, plain: 1, dgps: 2, float: 3, rtk: 4, deadReckoning: 5 });

function gps(d) {
  return {
    fix: known(d.getUint8(0), 255), satellites: known(d.getUint8(1), 255),
    latitudeE7: signed(d, 2), longitudeE7: signed(d, 6), heightMm: signed(d, 10),
    horizontalMm: amount(d, 14), verticalMm: amount(d, 18),
    timeMs: known(d.getUint32(22) * 2 ** 32 + d.getUint32(26), 0),
    speedMmPerS: amount(d, 30), courseMdeg: amount(d, 34),
  };
}

function io(d) {
  if (d.byteLength % 4 !== 0 || d.byteLength > 4 * MAX_CHANNELS) {
    throw wrongSize("io", d, `4 for each of up to ${MAX_CHANNELS} channels`);
  }
  return { values: Array.from({ length: d.byteLength / 4 }, (_, i) => signed(d, 4 * i)) };
}

// Joint is one joint of a servo device: position and goal in the unit of the joint (question channels), or null; state
// has bits, and the properties behind it are null if they are not known.
export class Joint {
  constructor(position, goal, state) {
    this.position = position;
    this.goal = goal;
    this.state = state;
  }
  #bit(bit) { return this.state & 0x80 ? (this.state & bit) !== 0 : null; }
  get moving() { return this.#bit(0x01); }
  get powered() { return this.#bit(0x02); }
  get atLimit() { return this.#bit(0x04); }
  get failed() { return this.#bit(0x08); }
}

function servo(d) {
  if (d.byteLength % 9 !== 0 || d.byteLength > 9 * MAX_JOINTS) {
    throw wrongSize("servo", d, `9 for each of up to ${MAX_JOINTS} joints`);
  }
  const joint = (at) => new Joint(signed(d, at), signed(d, at + 4), d.getUint8(at + 8));
  return { joints: Array.from({ length: d.byteLength / 9 }, (_, i) => joint(9 * i)) };
}

// GOTO_STATE is how far a goto device has come: there was no goal since it was opened; it drives; it has arrived; it sees
// no way, and tries on; it has given the goal up (PROTOCOL 7.14).
export const GOTO_STATE = Object.freeze({ idle: 0, driving: 1, arrived: 2, blocked: 3, stopped: 4 });

// GOTO_REASONS are sentences for the reasons of the state stopped (PROTOCOL 7.14), by number.
const GOTO_REASONS = [
  "", "it was commanded to stop, or its client left or was silent", "the wheels got another command",
  "the emergency stop is active", "its sensors give no ranges", "its wheels give no odometry", "it has found no way",
  "the goal is too far, or the robot too wide", "its motors are off",
];

// ANY_HEADING is the heading of a goal without one.
export const ANY_HEADING = 0xffff;

// Goto is how far a goto device has come (PROTOCOL 7.14). A null is not known, or there was no goal.
export class Goto {
  constructor(state, reason, tag, xMm, yMm, headingDeg, distanceMm) {
    this.state = state;
    this.reason = reason;
    this.tag = tag;
    this.xMm = xMm;
    this.yMm = yMm;
    this.headingDeg = headingDeg;
    this.distanceMm = distanceMm;
  }
  get arrived() { return this.state === GOTO_STATE.arrived; }
  // why returns a sentence about why the goal was given up, or an empty string.
  get why() { return GOTO_REASONS[this.reason] ?? `reason ${this.reason}`; }
}

function goto(d) {
  return new Goto(d.getUint8(0), d.getUint8(1), d.getUint16(2), signed(d, 4), signed(d, 8),
    known(d.getUint16(12), ANY_HEADING), amount(d, 14));
}

// Gripper has the state of paddles, lift and break beams (PROTOCOL 7.5): two bytes of bits, and
// their names.
export class Gripper {
  constructor(state, beams) {
    this.state = state;
    this.beams = beams;
  }
  get paddlesOpen() { return (this.state & 0x01) !== 0; }
  get paddlesClosed() { return (this.state & 0x02) !== 0; }
  get paddlesMoving() { return (this.state & 0x04) !== 0; }
  get paddlesError() { return (this.state & 0x08) !== 0; }
  get liftUp() { return (this.state & 0x10) !== 0; }
  get liftDown() { return (this.state & 0x20) !== 0; }
  get liftMoving() { return (this.state & 0x40) !== 0; }
  get liftError() { return (this.state & 0x80) !== 0; }
  get gripLimitReached() { return (this.beams & 0x01) !== 0; }
  get liftLimitReached() { return (this.beams & 0x02) !== 0; }
  get outerBeamObstructed() { return (this.beams & 0x04) !== 0; }
  get innerBeamObstructed() { return (this.beams & 0x08) !== 0; }
  get leftPaddleOpen() { return (this.beams & 0x10) !== 0; }
  get rightPaddleOpen() { return (this.beams & 0x20) !== 0; }
}

function joystick(d) {
  return { buttons: d.getUint32(0), axes: Int16Array.from({ length: 8 }, (_, i) => d.getInt16(4 + 2 * i)) };
}

function freshness(d) {
  if (d.byteLength < 8 || d.byteLength % 4 !== 0) {
    throw new ProtocolError(`freshness payload has ${d.byteLength} bytes, want 8 plus 4 for each age`);
  }
  const ages = new Uint32Array(d.byteLength / 4 - 2);
  for (let i = 0; i < ages.length; i++) ages[i] = d.getUint32(8 + 4 * i);
  return { time: d.getUint32(0) * 2 ** 32 + d.getUint32(4), ages };
}

// vision decodes a packet of ACTS 1.0: every byte stores its value plus one.
function vision(d) {
  const wrong = (what) => new ProtocolError(`vision payload of ${d.byteLength} bytes: ${what}`);
  let at = 2 * CHANNELS;
  if (d.byteLength < at) throw wrong("shorter than its header");
  const channels = [];
  for (let channel = 0, total = 0; channel < CHANNELS; channel++) {
    const first = d.getUint8(2 * channel), count = d.getUint8(2 * channel + 1) - 1;
    // An index above 254 does not fit into the byte and is sent as 254.
    if (first !== Math.min(total, 254) + 1 || count < 0 || count > MAX_BLOBS) {
      throw wrong(`channel ${channel} has index byte ${first}, count byte ${count + 1}`);
    }
    total += count;
    if (at + 10 * count > d.byteLength) throw wrong(`too few bytes for ${total} blobs`);
    const blobs = [];
    for (let i = 0; i < count; i++, at += 10) {
      let area = 0;
      for (let k = 0; k < 4; k++) {
        const digit = d.getUint8(at + k);
        if (digit < 1 || digit > 64) throw wrong(`area digit ${digit}`);
        area = area * 64 + digit - 1;
      }
      const [x, y, left, right, top, bottom] = [4, 5, 6, 7, 8, 9].map((k) => d.getUint8(at + k) - 1);
      if (Math.min(x, y, left, right, top, bottom) < 0) throw wrong("a zero byte in a blob");
      blobs.push({ area, x, y, left, right, top, bottom });
    }
    channels.push(blobs);
  }
  if (at !== d.byteLength) throw wrong("bytes after the last blob");
  return new Vision(channels);
}

// Vision has the blobs of one image (PROTOCOL 7.7).
export class Vision {
  constructor(channels) {
    this.channels = channels; // 32 lists of blobs, the largest first
  }
  // The channels that have at least one blob.
  get activeChannels() {
    return this.channels.flatMap((blobs, channel) => (blobs.length > 0 ? [channel] : []));
  }
}

// decode returns the data in a payload. It throws an error if the payload has another size or
// layout.
function decode([field, size, decoder], payload) {
  if (size !== 0 && payload.length !== size) {
    throw new ProtocolError(`${field} payload has ${payload.length} bytes, want ${size}`);
  }
  return decoder(new DataView(payload.buffer, payload.byteOffset, payload.length));
}

// ACCESS has the letters of the words for access.
const ACCESS = { read: "r", write: "w", all: "a", close: "c", r: "r", w: "w", a: "a", c: "c" };
const ACCESS_WORDS = { r: "read", w: "write", a: "all", c: "close", e: "error" };

// firstOf returns the character of the first device of an interface by its name, sonar or sonar:0, or undefined.
// freshness is the server itself.
export function firstOf(name) {
  const interfaceName = name.endsWith(":0") ? name.slice(0, -2) : name;
  if (interfaceName === "freshness") return "y";
  return Object.hasOwn(LETTERS, interfaceName) ? LETTERS[interfaceName] : undefined;
}

// pairsOf returns the pairs of a request: of text they are the text, and of an object whose members are an access by
// the name of a device, { sonar: "read", "laser:1": "read" }, one by one. codeOf returns the character of a device.
export function pairsOf(wanted, codeOf) {
  if (typeof wanted === "string") return wanted;
  return Object.entries(wanted).map(([name, access]) => {
    if (!Object.hasOwn(ACCESS, access)) throw new UsageError(`access "${access}" to ${name} is none of read, write, all, close`);
    return codeOf(name) + ACCESS[access];
  }).join("");
}

// grantedOf returns the granted pairs as the request was: text, or an object.
export function grantedOf(wanted, pairs) {
  if (typeof wanted === "string") return pairs;
  return Object.fromEntries(Object.keys(wanted).map((name, i) => [name, ACCESS_WORDS[pairs[2 * i + 1]]]));
}

// UNKNOWN_DATA is the data of the devices of an interface without a letter before their first block.
const UNKNOWN_DATA = {
  ranger: () => new Ranger(1, new Uint16Array(0)),
  imu: () => imu(empty(36, 0x80, 4)),
  gps: () => ({
    fix: null, satellites: null, latitudeE7: null, longitudeE7: null, heightMm: null, horizontalMm: null, verticalMm: null,
    timeMs: null, speedMmPerS: null, courseMdeg: null,
  }),
  io: () => ({ values: [] }),
  servo: () => ({ joints: [] }),
  goto: () => new Goto(GOTO_STATE.idle, 0, 0, null, null, null, null),
};

// empty returns bytes of which every so many-th is a value, and the others are 0.
function empty(size, value, every) {
  return new DataView(Uint8Array.from({ length: size }, (_, i) => (i % every === 0 ? value : 0)).buffer);
}

// PlayerEvent is an event of a client: round, protocol or closed; error is why, for the last two.
export class PlayerEvent extends Event {
  constructor(type, error = null) {
    super(type);
    this.error = error;
  }
}

// Robot has the newest data of the devices that are read, and ways to wait for more. Each block replaces the data with
// new objects, so a program may keep old ones. Data are zero, and null for interfaces without letters, until the
// first block.
//
// It is an EventTarget. Events come while a call of the program waits, for example run:
//
//   round     a round of data is complete
//   protocol  only of run: the server sent bytes that do not match the protocol
//   closed    the connection is lost
export class Robot extends EventTarget {
  position;
  sonar;
  laser;
  misc;
  gripper;
  ptz;
  vision;
  joystick;
  freshness;

  constructor() {
    super();
    this.clearData();
  }

  // clearData sets all data to zero.
  clearData() {
    this.blocks = new Map(); // by letter: raw, and has
    for (const [letter, device] of Object.entries(devices)) this[device[0]] = decode(device, new Uint8Array(EMPTY[letter] ?? device[1]));
  }

  // take stores one block of a device, of whose interface it is. It throws an error if the payload is not valid.
  take(letter, payload, interfaceName = interfaceOfLetter(letter)) {
    const block = { raw: payload, has: false, data: this.blocks.get(letter)?.data ?? null };
    this.blocks.set(letter, block);
    if (payload.length > 0 && Object.hasOwn(byInterface, interfaceName)) {
      block.data = decode(byInterface[interfaceName], payload);
      if (devices[letter]) this[interfaceName] = block.data;
    }
    block.has = payload.length > 0;
  }

  // letterOf returns the character of a device by its letter or name. Another text stays as it is.
  letterOf(device) {
    return device.length === 1 ? device : firstOf(device) ?? device;
  }

  // indexes returns the indexes of the devices of an interface that are known.
  indexes(interfaceName) {
    return Object.hasOwn(LETTERS, interfaceName) ? [0] : [];
  }

  // data returns the newest data of a device, as its interface has them: a Ranger, an IMU, a GPS, an IO, a Servo or a
  // Goto, and for the others what the property of the first one has, for example 361 ranges for laser:1. null: it has
  // sent none since the connection was made, or its interface is not known here. If has is false they are outdated.
  data(device) {
    return this.blocks.get(this.letterOf(device))?.data ?? null;
  }

  // all returns the data of all devices of an interface that are known, by index, for example "laser".
  all(interfaceName) {
    const found = [];
    for (const index of this.indexes(interfaceName)) {
      const first = index === 0 && Object.hasOwn(LETTERS, interfaceName);
      found[index] = first ? this[interfaceName] : this.data(`${interfaceName}:${index}`) ?? noData(interfaceName);
    }
    return found;
  }

  get positions() { return this.all("position"); }
  get sonars() { return this.all("sonar"); }
  get lasers() { return this.all("laser"); }
  get rangers() { return this.all("ranger"); }
  get imus() { return this.all("imu"); }

  get ranger() { return this.data("ranger") ?? noData("ranger"); }
  get imu() { return this.data("imu") ?? noData("imu"); }
  get gps() { return this.data("gps") ?? noData("gps"); }
  get io() { return this.data("io") ?? noData("io"); }
  get servo() { return this.data("servo") ?? noData("servo"); }
  get goto() { return this.data("goto") ?? noData("goto"); }

  // has reports whether a device has data: its newest block was not empty. If not, its property is
  // zero or outdated.
  has(device) {
    return this.blocks.get(this.letterOf(device))?.has ?? false;
  }

  // raw returns the payload of a device's newest block as sent, or null. For devices of interfaces that
  // are not known here it is the only access.
  raw(device) {
    return this.blocks.get(this.letterOf(device))?.raw ?? null;
  }

  // new has the letters of the devices with a block in the newest round, sorted.
  get new() {
    return "";
  }

  // isNew reports whether a device has a block in the newest round. Without freshness mode all have.
  isNew(device) {
    const letter = this.letterOf(device);
    return letter.length === 1 && this.new.includes(letter);
  }

  // read waits for one round of data: clients do.
  async read(options = undefined) {
    throw new UsageError(`this robot has no connection to read with ${options}`);
  }

  // rounds reads rounds for a loop, of which each has this robot:
  //
  //   for await (const { sonar } of robot.rounds({ signal })) robot.setSpeed(100, sonar[3] < 500 ? 20 : 0);
  //
  // The loop ends with an error of read, among them the reason of the signal. The connection stays when it is left.
  async *rounds(options = undefined) {
    for (;;) {
      await this.read(options);
      yield this;
    }
  }

  [Symbol.asyncIterator]() {
    return this.rounds();
  }

  // run reads rounds, for a program that listens to events, until its signal aborts or the connection is lost. A block
  // that is not valid is an event protocol, and no end.
  async run(options = undefined) {
    for (;;) {
      try {
        await this.read(options);
      } catch (e) {
        if (options?.signal?.aborted) return;
        if (!(e instanceof ProtocolError)) throw e;
        this.dispatchEvent(new PlayerEvent("protocol", e));
      }
    }
  }
}

// noData returns the data of an interface's devices before their first block.
function noData(interfaceName) {
  if (Object.hasOwn(UNKNOWN_DATA, interfaceName)) return UNKNOWN_DATA[interfaceName]();
  const device = byInterface[interfaceName];
  return device ? decode(device, new Uint8Array(EMPTY[device[0] === "vision" ? "v" : ""] ?? device[1])) : null;
}
