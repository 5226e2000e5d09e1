// Decodes the server's messages: frame.go, world.go and scene.go define them.
// Payloads of devices follow the Player protocol (docs/PROTOCOL.md, 7):
// big-endian, the default of DataView. Decoded lengths are metres, angles are
// radians, counterclockwise.

/** @import { Data, Extra, Imu, Joint, Key, Letter, Name, Pose, Values } from "../types" */

// rad converts from degrees.
export const rad = (deg) => (deg * Math.PI) / 180;

// DEVICES are all devices that the dashboard shows, in the order of their buttons.
/** @type {{ letter: Letter, name: string }[]} */
export const DEVICES = [
  { letter: "p", name: "Position" },
  { letter: "l", name: "Laser" },
  { letter: "s", name: "Sonar" },
  { letter: "m", name: "Body" },
  { letter: "g", name: "Gripper" },
  { letter: "z", name: "Pan-tilt" },
  { letter: "v", name: "Vision" },
];

// A laser reports 8.191 m when nothing is in reach. NO_ECHO is half a millimetre
// less, because ranges are rounded to 32-bit floats. SONAR_FAR is the range that a sonar
// reports then.
export const NO_ECHO = 8.1905;
export const SONAR_FAR = 5;

/** @type {{ [L in Letter]: (d: DataView) => Data[L] }} */
const decoders = {
  p: (d) => ({
    time: d.getUint32(0) / 1000, x: d.getInt32(4) / 1000, y: d.getInt32(8) / 1000, heading: rad(d.getUint16(12)),
    speed: d.getInt16(14) / 1000, turn: rad(d.getInt16(16)), compass: rad(d.getUint16(18)), stall: d.getUint8(20) !== 0,
  }),
  s: (d) => ranges(d, 16),
  l: (d) => ranges(d, 361),
  m: (d) => ({ front: d.getUint8(0), rear: d.getUint8(1), volts: d.getUint8(2) / 10 }),
  g: (d) => ({ state: d.getUint8(0), beams: d.getUint8(1) }),
  z: (d) => ({ pan: d.getInt16(0), tilt: d.getInt16(2), zoom: d.getInt16(4) }), // degrees, in the units of the command
  v: blobs,
};

function ranges(d, count) {
  const list = new Float32Array(count);
  for (let i = 0; i < count; i++) list[i] = d.getUint16(2 * i) / 1000;
  return list;
}

// blobs decodes a packet of ACTS 1.0: every byte stores its value plus one.
function blobs(d) {
  const list = [];
  let at = 64;
  for (let channel = 0; channel < 32; channel++) {
    for (let n = d.getUint8(2 * channel + 1) - 1; n > 0; n--, at += 10) {
      let area = 0;
      for (let i = 0; i < 4; i++) area = area * 64 + d.getUint8(at + i) - 1;
      const [x, y, left, right, top, bottom] = [4, 5, 6, 7, 8, 9].map((i) => d.getUint8(at + i) - 1);
      list.push({ channel, area, x, y, left, right, top, bottom });
    }
  }
  return list;
}

// UNKNOWN is an i32 that the hardware does not measure; NO_AMOUNT is a u32.
export const UNKNOWN = -0x80000000;
const NO_AMOUNT = 0xffffffff;

const signed = (d, at, unit) => (d.getInt32(at) === UNKNOWN ? NaN : d.getInt32(at) / unit);
const amount = (d, at, unit) => (d.getUint32(at) === NO_AMOUNT ? NaN : d.getUint32(at) / unit);

// extras decode the data of the interfaces of devices without letters. They are undefined for a
// payload that does not fit.
/** @type {{ [I in keyof Extra]: (d: DataView) => Extra[I] | undefined }} */
const extras = {
  laser: (d) => ranges(d, d.byteLength >> 1).map((r) => (r < NO_ECHO ? r : Infinity)),
  sonar: (d) => ranges(d, d.byteLength >> 1).map((r) => (r > 0 ? r : NaN)),
  ranger(d) {
    if (d.byteLength < 2) return undefined;
    const unit = d.getUint16(0) / 1000, list = new Float32Array((d.byteLength - 2) >> 1);
    for (let i = 0; i < list.length; i++) {
      const r = d.getUint16(2 + 2 * i);
      list[i] = r === 0xffff ? NaN : r === 0xfffe ? Infinity : r * unit;
    }
    return list;
  },
  imu(d) {
    if (d.byteLength !== 36) return undefined;
    const [angles, rates, accelerations] = [0, 12, 24].map((from) => [0, 4, 8].map((at) => signed(d, from + at, 1000)));
    return { angles, rates, accelerations };
  },
  gps(d) {
    if (d.byteLength !== 38) return undefined;
    return {
      fix: d.getUint8(0), satellites: d.getUint8(1) === 255 ? NaN : d.getUint8(1),
      latitude: signed(d, 2, 1e7), longitude: signed(d, 6, 1e7), height: signed(d, 10, 1000),
      horizontal: amount(d, 14, 1000), vertical: amount(d, 18, 1000), speed: amount(d, 30, 1000), course: amount(d, 34, 1000),
    };
  },
  goto(d) {
    if (d.byteLength !== 18) return undefined;
    return { state: d.getUint8(0), reason: d.getUint8(1), tag: d.getUint16(2), x: signed(d, 4, 1000), y: signed(d, 8, 1000), distance: amount(d, 14, 1000) };
  },
  io(d) {
    /** @type {Values} */
    const values = [];
    for (let at = 0; at + 4 <= d.byteLength; at += 4) values.push(signed(d, at, 1));
    return values;
  },
  servo(d) {
    /** @type {Joint[]} */
    const joints = [];
    for (let at = 0; at + 9 <= d.byteLength; at += 9) {
      const state = d.getUint8(at + 8), known = (state & 128) !== 0, bit = (mask) => known && (state & mask) !== 0;
      joints.push({
        position: signed(d, at, 1), goal: signed(d, at + 4, 1),
        moving: bit(1), power: known ? bit(2) : undefined, limit: bit(4), failed: bit(8),
      });
    }
    return joints;
  },
};

// LETTERS are the letters of the interfaces whose further devices send what the first one sends.
/** @type {Record<string, Letter>} */
const LETTERS = { position: "p", misc: "m", gripper: "g", ptz: "z", vision: "v" };

// decodeFrame decodes a message of a stream. Ages are seconds, 0 if unknown. data
// is null if the device has none yet, or is none that the page shows. names has the devices
// without letters by the numbers of their blocks.
/** @type {(buffer: ArrayBuffer, names?: Map<number, Name>) => { number: number, dropped: number, blocks: { key: Key, age: number, data: any }[] }} */
export function decodeFrame(buffer, names) {
  const view = new DataView(buffer);
  const blocks = []; // data is Data[key]
  for (let at = 8; at < buffer.byteLength; ) {
    const code = view.getUint8(at), name = names?.get(code), kind = name?.split(":")[0] ?? "";
    const key = name ?? /** @type {Letter} */ (String.fromCharCode(code));
    const age = view.getUint32(at + 1);
    const size = view.getUint16(at + 5);
    const payload = new DataView(buffer, at + 7, size);
    at += 7 + size;
    const decode = name ? (extras[kind] ?? decoders[LETTERS[kind]]) : decoders[key];
    blocks.push({
      key,
      age: age === NO_AMOUNT ? 0 : age / 1e6,
      data: size > 0 && decode ? decode(payload) ?? null : null,
    });
  }
  return { number: view.getUint32(0), dropped: view.getUint32(4), blocks };
}

// decodePoses decodes a message of the world.
/** @param {ArrayBuffer} buffer */
export function decodePoses(buffer) {
  const view = new DataView(buffer);
  const flags = view.getUint8(16);
  /** @type {Pose[]} */
  const poses = [];
  for (let at = 17; at < buffer.byteLength; at += 12) {
    poses.push({ x: view.getFloat32(at), y: view.getFloat32(at + 4), heading: view.getFloat32(at + 8) });
  }
  return {
    number: view.getUint32(0), time: view.getFloat64(4), speed: view.getFloat32(12),
    paused: (flags & 1) !== 0, finished: (flags & 2) !== 0, poses,
  };
}

// acknowledge acknowledges a message. The server sends only a few ahead.
/** @type {(socket: WebSocket, number: number) => void} */
export function acknowledge(socket, number) {
  const message = new DataView(new ArrayBuffer(4));
  message.setUint32(0, number);
  if (socket.readyState === WebSocket.OPEN) socket.send(message.buffer);
}

// PAGE is this page's name for itself, so that it finds its own connections in the
// list of clients.
export const PAGE = first.page;

// connect opens a WebSocket to the server of this page, or returns the one that was opened
// before the modules were here. The caller gets what that has received, in order, after it
// has set its handlers.
/** @type {(path: string, parameters?: Record<string, string>) => WebSocket} */
export function connect(path, parameters) {
  const address = first.address(path, parameters), ready = first.opened.get(address);
  const socket = ready?.socket ?? new WebSocket(address);
  first.opened.delete(address);
  socket.binaryType = "arraybuffer";
  if (ready) queueMicrotask(() => ready.events.forEach((event) => socket[`on${event.type}`]?.(event)));
  return socket;
}
