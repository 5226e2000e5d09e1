// A block of each device as the server sends it, and its data.

export const hex = (text) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));

export const join = (...parts) => Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part))));

export function block(letter, payload) {
  return join(Buffer.from([letter.charCodeAt(0), payload.length >> 8, payload.length & 255]), payload);
}

export const reply = (pairs) => block("r", Buffer.from(pairs, "latin1"));

// asked returns a device request.
export const asked = (pairs) => join(Buffer.from([0x64, 0x72, 0, pairs.length]), Buffer.from(pairs, "latin1"));

// answer returns an answer of these lines to a question.
export const answer = (question, ...lines) => block("Y", Buffer.from([question, ...lines].join("\n"), "latin1"));

// DEVICES are the devices of a robot with a second laser, an imu and a servo, and without an io device.
export const DEVICES = ["108 laser 0 sick", "128 laser 1 urg", "130 imu 0 a driver", "131 servo 0 arm"];

const range = (count, f) => Array.from({ length: count }, (_, i) => f(i));
const u16 = (values) => values.map((v) => v.toString(16).padStart(4, "0")).join("");
const sonar = range(16, (i) => 1000 + 100 * i);
const laser = range(361, (i) => 2000 + 17 * i);

// Payload, property, data.
export const DATA = {
  p: [hex("0001E240 00000457 FFFFF752 002D 0064 FFEC 010E 01"), "position",
    { time: 123456, x: 1111, y: -2222, heading: 45, speed: 100, turnrate: -20, compass: 270, stall: 1 }],
  s: [hex(u16(sonar)), "sonar", sonar],
  l: [hex(u16(laser)), "laser", laser],
  m: [hex("11067C"), "misc", { frontBumpers: 0b10001, rearBumpers: 0b00110, battery: 124, voltage: 124 }],
  g: [hex("1224"), "gripper", { state: 0x12, beams: 0x24 }],
  z: [hex("FFE2 000A 0200"), "ptz", { pan: -30, tilt: 10, zoom: 512 }],
  j: [hex("80000001 8001 7FFF 0000 0001 FFFF 0000 0000 0002"), "joystick",
    { buttons: 0x80000001, axes: [-32767, 32767, 0, 1, -1, 0, 0, 2] }],
  // Two blobs in channel 3: the areas are 1234 = 19 * 64 + 18, and 2 ** 24 - 1.
  v: [hex("0101".repeat(3) + "0103" + "0301".repeat(28) + "01011413513D475B333D" + "40404040FF01FF01FF01"), "vision",
    { channels: range(32, (channel) => channel !== 3 ? [] : [
      { area: 1234, x: 80, y: 60, left: 70, right: 90, top: 50, bottom: 60 },
      { area: 2 ** 24 - 1, x: 254, y: 0, left: 254, right: 0, top: 254, bottom: 0 },
    ]) }],
};

export const NO_BLOBS = new Uint8Array(64).fill(1);

// plain makes typed arrays and classes comparable.
export const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (ArrayBuffer.isView(v) ? [...v] : v)));
