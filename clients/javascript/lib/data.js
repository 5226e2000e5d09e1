// The data of the devices (PROTOCOL 7 and 8.1), and their decoding. All values are in the
// protocol's units: mm, degrees, mm/s, deg/s. x is forward, y is to the left, and angles increase
// counterclockwise.

import { PlayerError } from "./errors.js";

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
    throw new PlayerError("protocol", `freshness payload has ${d.byteLength} bytes, want 8 plus 4 for each age`);
  }
  const ages = new Uint32Array(d.byteLength / 4 - 2);
  for (let i = 0; i < ages.length; i++) ages[i] = d.getUint32(8 + 4 * i);
  return { time: d.getUint32(0) * 2 ** 32 + d.getUint32(4), ages };
}

// vision decodes a packet of ACTS 1.0: every byte stores its value plus one.
function vision(d) {
  const wrong = (what) => new PlayerError("protocol", `vision payload of ${d.byteLength} bytes: ${what}`);
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
    throw new PlayerError("protocol", `${field} payload has ${payload.length} bytes, want ${size}`);
  }
  return decoder(new DataView(payload.buffer, payload.byteOffset, payload.length));
}

// Robot has the newest data of the devices that are read. Each block replaces it with new objects,
// so a program may keep old ones.
export class Robot {
  constructor() {
    this.clearData();
  }

  // clearData sets all data to zero.
  clearData() {
    this.blocks = new Map(); // by letter: raw, and has
    for (const [letter, device] of Object.entries(devices)) this[device[0]] = decode(device, new Uint8Array(EMPTY[letter] ?? device[1]));
  }

  // take stores one block. It throws an error if the payload is not valid.
  take(letter, payload) {
    const block = { raw: payload, has: false };
    this.blocks.set(letter, block);
    const device = devices[letter];
    if (payload.length > 0 && device) this[device[0]] = decode(device, payload);
    block.has = payload.length > 0;
  }

  // has reports whether a device has data: its newest block was not empty. If not, its property is
  // zero or outdated.
  has(device) {
    return this.blocks.get(device)?.has ?? false;
  }

  // raw returns the payload of a device's newest block as sent, or null. For devices that the manual
  // does not define it is the only access.
  raw(device) {
    return this.blocks.get(device)?.raw ?? null;
  }
}
