// Compact rounds (PROTOCOL 8.4): the blocks that a block of letter Z stands for.

import { ProtocolError } from "./errors.js";

const LASER_READINGS = 361;
const SONARS = 16;
// MAX_READINGS is the most readings of a ranger (PROTOCOL 7.9).
const MAX_READINGS = 8192;
const CHANNELS = 32;
const BLOB = 10; // bytes
// LAYOUTS has the numbers of payloads, by interface: their sizes in bytes, negative if they are signed.
const LAYOUTS = {
  position: [4, -4, -4, 2, -2, -2, 2, 1],
  ptz: [-2, -2, -2],
  joystick: [4, -2, -2, -2, -2, -2, -2, -2, -2],
};
// NUMBER is the most bytes of a number: of 64 bits.
const NUMBER = 10;
// FULL is the number of values of 32 bits, and LOW the width below which the range decoder takes a byte.
const FULL = 2 ** 32, LOW = 2 ** 24;

const wrong = () => new ProtocolError("a compact block has an item without a meaning");

// blocks yields the byte of the device and the payload of each block that the payload of a block Z stands for (8.4.2).
// interfaceOf returns the interface of a device by its byte, "freshness" for y. Readings that the server did not send
// (8.4.7) are 0. It throws an error of kind protocol for an item that is none, and ends with it.
export function* blocks(payload, interfaceOf) {
  for (const items = new Numbers(payload); items.at < payload.length; ) {
    const code = payload[items.at++], head = items.next(), form = head % 4, end = items.at + Math.floor(head / 4);
    if (end > payload.length || form === 3) throw wrong();
    let block = payload.slice(items.at, end);
    items.at = end;
    if (form === 1) block = decode(interfaceOf(code), block);
    if (form === 2) block = selected(block);
    yield [code, block];
  }
}

// Numbers reads numbers (8.4.2) from the byte at. Those above 2^53 are rounded.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get done() { return this.at === this.bytes.length; }
  next() {
    return Number(this.exact());
  }
  // exact returns the next number as a BigInt.
  exact() {
    for (let value = 0n, i = 0n; i < NUMBER && !this.done; i++) {
      const b = this.bytes[this.at++];
      value += BigInt(b & 127) << (7n * i);
      if (b < 128) return value;
    }
    throw wrong();
  }
  // fields returns the payload of as many numbers as a layout has.
  fields(layout) {
    const bytes = [];
    for (const size of layout) {
      let value = this.next();
      if (value >= 2 ** (8 * Math.abs(size))) throw wrong();
      if (size < 0) value = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      for (let i = Math.abs(size) - 1; i >= 0; i--) bytes.push(Math.floor(value / 2 ** (8 * i)) & 255);
    }
    return bytes;
  }
  rest() { return this.bytes.subarray(this.at); }
}

// decode returns the payload of a code of form 1 (8.4.3).
function decode(interfaceName, code) {
  const numbers = new Numbers(code);
  switch (interfaceName) {
    case "laser": return bytes(readings(code, LASER_READINGS));
    case "sonar": return bytes(readings(code, SONARS));
    case "ranger": {
      const unit = numbers.fields([2]), count = numbers.next();
      if (count > MAX_READINGS) throw wrong();
      return Uint8Array.of(...unit, ...bytes(readings(numbers.rest(), count)));
    }
    case "vision": return vision(code);
    case "freshness": {
      const time = numbers.exact(), payload = [Number((time >> 32n) & 0xffffffffn), Number(time & 0xffffffffn)];
      while (!numbers.done) {
        const age = numbers.next();
        if (age >= FULL) throw wrong();
        payload.push(age - 1);
      }
      return Uint8Array.from(payload.flatMap((v) => [v >>> 24, v >>> 16, v >>> 8, v >>> 0]));
    }
  }
  if (!Object.hasOwn(LAYOUTS, interfaceName)) throw wrong();
  const payload = Uint8Array.from(numbers.fields(LAYOUTS[interfaceName]));
  if (!numbers.done) throw wrong();
  return payload;
}

function vision(code) {
  const header = [];
  let blobs = 0, at = 0;
  for (let channel = 1; channel <= CHANNELS; channel++) {
    let count = 0;
    if (code[at] === channel) {
      count = code[at + 1];
      at += 2;
    }
    header.push(Math.min(1 + blobs, 255), 1 + count);
    blobs += count;
  }
  if (code[at] !== 0 || code.length !== at + 1 + blobs * BLOB || Math.max(...header) > 255) throw wrong();
  return Uint8Array.of(...header, ...code.subarray(at + 1));
}

// selected returns the whole laser scan of a code of form 2 (8.4.7).
function selected(code) {
  const numbers = new Numbers(code);
  const [first, step, count, unit] = [numbers.next(), numbers.next(), numbers.next(), numbers.next()];
  const last = first + (count - 1) * step;
  if (step === 0 || count > LASER_READINGS || (count > 0 && last >= LASER_READINGS)) throw wrong();
  const scan = new Uint16Array(LASER_READINGS);
  readings(numbers.rest(), count).forEach((reading, i) => (scan[first + i * step] = Math.min(reading * unit, 0xffff)));
  return bytes(scan);
}

// bytes returns readings as a payload has them.
function bytes(readings) {
  const d = new DataView(new ArrayBuffer(2 * readings.length));
  readings.forEach((reading, i) => d.setUint16(2 * i, reading));
  return new Uint8Array(d.buffer);
}

const chances = (count) => Array.from({ length: count }, () => ({ p: 32768, n: 0 }));

// readings returns count readings of a code (8.4.5).
function readings(code, count) {
  const bits = new Bits(code), straight = bits.plain(1) === 1, found = new Uint16Array(count);
  const same = chances(18), counts = [chances(4), chances(4)], long = chances(17);
  let last = 0, before = 0, slope = 0, spread = 480;
  for (let i = 0; i < count; i++) {
    const guess = Math.max(0, Math.min(straight ? 2 * last - before : last + ((slope + 128) >> 8), 0xffff));
    let level = 0;
    if (spread >= 16) {
      const k = 27 - Math.clz32(spread); // 2^k <= spread / 16
      level = Math.min(2 * k + ((spread >> (k + 3)) & 1), 17);
    }
    const difference = bits.chance(same[level]) ? 0 : differenceOf(bits, counts[level & 1], long, level >> 1);
    const reading = guess + difference, size = Math.abs(difference);
    if (reading < 0 || reading > 0xffff) throw wrong();
    if (size > 400) {
      slope = 0;
      before = reading;
    } else {
      spread += ((16 * size - spread) * 3) >> 3;
      slope += (256 * (reading - last) - slope) >> 2;
      before = last;
    }
    last = reading;
    found[i] = reading;
  }
  return found;
}

// differenceOf returns a difference that is not 0 (8.4.6).
function differenceOf(bits, counts, long, low) {
  const negative = bits.plain(1) === 1;
  let steps = 0;
  while (steps < 4 && !bits.chance(counts[steps])) steps++;
  if (steps === 4) {
    let b = 1;
    while (!bits.chance(long[b])) if (++b === 17) throw wrong();
    steps = 3 + 2 ** (b - 1) + bits.plain(b - 1);
  }
  const size = steps * 2 ** low + bits.plain(low) + 1;
  return negative ? -size : size;
}

// Bits is the range decoder (8.4.4).
class Bits {
  #source;
  #at = 0;
  #width = FULL - 1;
  #code = 0;

  constructor(source) {
    this.#source = source;
    for (let i = 0; i < 4; i++) this.#take();
  }

  #take() {
    this.#code = (this.#code * 256 + (this.#source[this.#at++] ?? 0)) % FULL;
  }

  // chance returns a bit with a chance, and adapts the chance.
  chance(c) {
    const bound = Math.floor((this.#width * c.p) / 65536), bit = this.#code < bound;
    const rate = Math.floor(327680 / (5 * c.n + 8));
    if (bit) {
      this.#width = bound;
      c.p += Math.floor(((65536 - c.p) * rate) / 65536);
    } else {
      this.#code -= bound;
      this.#width -= bound;
      c.p -= Math.floor((c.p * rate) / 65536);
    }
    c.p = Math.max(32, Math.min(c.p, 65504));
    c.n = Math.min(c.n + 1, 40);
    this.#normalize();
    return bit;
  }

  // plain returns a number of k plain bits.
  plain(k) {
    this.#width = this.#width >>> k;
    const value = Math.min(Math.floor(this.#code / this.#width), 2 ** k - 1);
    this.#code -= value * this.#width;
    this.#normalize();
    return value;
  }

  #normalize() {
    while (this.#width < LOW) {
      this.#take();
      this.#width *= 256;
    }
  }
}
