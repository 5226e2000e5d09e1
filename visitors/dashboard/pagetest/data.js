// Messages as the server sends them, and comparisons.

import assert from "node:assert/strict";

// bytes decodes hexadecimal text.
export const bytes = (hex) => Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (pair) => parseInt(pair, 16));

const u32 = (v) => [v >>> 24, (v >> 16) & 255, (v >> 8) & 255, v & 255];

// block returns the bytes of a device's block: age in us, payload as bytes or
// hexadecimal text.
export function block(letter, age, payload) {
  const content = typeof payload === "string" ? bytes(payload) : payload;
  return [letter.charCodeAt(0), ...u32(age), content.length >> 8, content.length & 255, ...content];
}

// frame returns a message of a stream.
export const frame = (number, dropped, ...blocks) => Uint8Array.from([...u32(number), ...u32(dropped), ...blocks.flat()]).buffer;

// near asserts that two numbers are equal but for rounding.
export const near = (got, want, message) => assert.ok(Math.abs(got - want) < 1e-6, `${message ?? "got"} ${got}, want ${want}`);
