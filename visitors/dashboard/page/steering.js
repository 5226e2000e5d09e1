// From keys, stick and gamepad to speeds. Inputs are pairs [forward, left], each
// from -1 to 1.

/** @typedef {[forward: number, left: number]} Input */

const STICK_DEAD = 0.08; // dead zone of the stick, a part of its way: a finger is not exact
const PAD_DEAD = 0.12; // dead zone of gamepads: worn ones rest that far from the middle
const SHOULDERS = [4, 5, 6, 7]; // gamepad buttons, one of which must be pressed (W3C standard layout)

// KEYS has the input of each key, by its place on the keyboard.
/** @type {Record<string, Input>} */
const KEYS = {
  ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, 1], ArrowRight: [0, -1],
  KeyW: [1, 0], KeyS: [-1, 0], KeyA: [0, 1], KeyD: [0, -1],
};

const clip = (v) => Math.max(-1, Math.min(1, v));
const deadZone = (v, dead) => (Math.abs(v) < dead ? 0 : (Math.sign(v) * (Math.abs(v) - dead)) / (1 - dead));

// sum adds inputs, each axis clipped.
/** @type {(inputs: Iterable<Input>) => Input} */
function sum(inputs) {
  let forward = 0, left = 0;
  for (const input of inputs) {
    forward += input[0];
    left += input[1];
  }
  return [clip(forward), clip(left)];
}

// steers reports whether a key drives.
export const steers = (code) => code in KEYS;

// keyInput returns the input of the keys that are down.
/** @type {(codes: Iterable<string>) => Input} */
export const keyInput = (codes) => sum([...codes].map((code) => KEYS[code]));

// stickOffset returns where the knob of a stick is: x to the right, y down, as
// fractions of its reach. dx and dy are the pointer's distance from the middle.
export function stickOffset(dx, dy, reach) {
  const x = dx / reach, y = dy / reach, far = Math.max(1, Math.hypot(x, y));
  return { x: x / far, y: y / far };
}

// stickInput returns the input of a stick: up is forward.
/** @type {(offset: { x: number, y: number }) => Input} */
export const stickInput = ({ x, y }) => [deadZone(-y, STICK_DEAD), deadZone(-x, STICK_DEAD)];

// padInput returns the input of a gamepad's left stick while a shoulder button
// is pressed.
/** @type {(pad: Pick<Gamepad, "axes" | "buttons">) => Input} */
export function padInput({ axes, buttons }) {
  if (!SHOULDERS.some((i) => buttons[i]?.pressed)) return [0, 0];
  return [deadZone(-axes[1], PAD_DEAD), deadZone(-axes[0], PAD_DEAD)];
}

// speeds returns the speeds that inputs ask for together: mm/s forward and deg/s
// counterclockwise.
/** @type {(inputs: Iterable<Input>, limits: { speed: number, turn: number }) => [speed: number, turn: number]} */
export function speeds(inputs, limits) {
  const [forward, left] = sum(inputs);
  return [Math.round(forward * limits.speed), Math.round(left * limits.turn)];
}
