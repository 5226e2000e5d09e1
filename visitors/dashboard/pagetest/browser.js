// A small fake of a browser, enough to load the dashboard's modules in node and to
// operate them: elements that remember what was done to them, canvases that
// record what is drawn, sockets whose other end is the test, and a clock that
// only the test moves. Importing this module installs it globally.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";

// clock is the time in ms. Timers and animation frames run in advance only.
export const clock = {
  now: 1000,
  timers: [],
  advance(ms) {
    const end = this.now + ms;
    for (;;) {
      this.timers.sort((a, b) => a.at - b.at);
      if (!(this.timers[0]?.at <= end)) break;
      const timer = this.timers.shift();
      this.now = Math.max(this.now, timer.at);
      if (timer.period) this.timers.push({ ...timer, at: this.now + timer.period });
      timer.run(this.now);
    }
    this.now = end;
  },
};

let lastTimer = 0;
function addTimer(run, ms, period = 0) {
  const id = ++lastTimer;
  clock.timers.push({ id, run, at: clock.now + ms, period });
  return id;
}
function removeTimer(id) {
  clock.timers = clock.timers.filter((timer) => timer.id !== id);
}

// context returns a canvas context that records calls and assignments as
// [name, ...arguments].
function context() {
  const calls = [];
  const results = {
    measureText: (text) => ({ width: 4 * text.length }),
    createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
  };
  return new Proxy({ calls }, {
    get(target, name) {
      if (name in target) return target[name];
      return (...args) => {
        calls.push([name, ...args]);
        return results[name]?.(...args);
      };
    },
    set(target, name, value) {
      calls.push([name, value]);
      return true;
    },
  });
}

export class Element extends EventTarget {
  constructor(id = "") {
    super();
    const classes = new Set();
    Object.assign(this, {
      id, value: "0", textContent: "", hidden: false, dataset: {}, style: {}, attributes: {}, children: [], parts: {}, options: [],
      clientWidth: 400, clientHeight: 300, offsetWidth: 40, left: 0, top: 0, removed: false,
      classes,
      classList: {
        contains: (name) => classes.has(name),
        add: (name) => classes.add(name),
        remove: (name) => classes.delete(name),
        toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)),
      },
    });
  }

  // A part of an element is made when it is first asked for.
  querySelector(selector) { return (this.parts[selector] ??= new Element(selector)); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  appendChild(node) {
    this.append(node);
    return node;
  }
  // An element that is appended again moves.
  append(...nodes) {
    this.children = [...this.children.filter((c) => !nodes.includes(c)), ...nodes];
    for (const node of nodes) node.parent = this;
  }
  replaceChildren(...nodes) { this.children = nodes; }
  get firstElementChild() { return this.children[0]; }
  contains(node) { return this.children.includes(node); }
  add(option) { this.options.push(option); }
  remove() {
    this.removed = true;
    if (this.parent) this.parent.children = this.parent.children.filter((c) => c !== this);
  }
  getBoundingClientRect() { return { left: this.left, top: this.top, width: this.clientWidth, height: this.clientHeight }; }
  getContext() { return (this.context ??= context()); }
  // An input or select element belongs to every list of selectors that names
  // its tag; range inputs have type.
  closest(selectors) {
    const own = this.type === "range" ? "input[type=range]" : this.tag;
    return selectors.split(", ").some((s) => s === own || (s === "input:not([type=range])" && own === "input")) ? this : null;
  }
  matches() { return false; }
  setPointerCapture() {}
  scrollIntoView() {}
  focus() {}
  blur() {}
  reset() {}
}

// fire dispatches an event with the given fields on an element or the window,
// and returns it.
export function fire(target, type, fields = {}) {
  const event = new Event(type, { cancelable: true });
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(event, name, { value });
  target.dispatchEvent(event);
  return event;
}

// sockets are all that the dashboard has opened.
export const sockets = [];

class FakeSocket {
  static CONNECTING = 0;
  static OPEN = 1;
  constructor(url) {
    Object.assign(this, { url: new URL(url), readyState: 0, sent: [] });
    sockets.push(this);
  }
  send(message) { this.sent.push(typeof message === "string" ? JSON.parse(message) : message); }
  close() { this.readyState = 3; }
  // Acts of the server:
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  receive(message) { this.onmessage?.({ data: message instanceof ArrayBuffer ? message : JSON.stringify(message) }); }
  end(reason = "") {
    this.readyState = 3;
    this.onclose?.({ reason });
  }
}

const elements = new Map();

// element returns the element of the document that has an id.
export function element(id) {
  if (!elements.has(id)) elements.set(id, new Element(id));
  return elements.get(id);
}

// replies are the results of fetch, by path, and requests its arguments.
export const replies = {};
export const requests = [];

// storage returns an empty storage of texts by key.
function storage() {
  const stored = {};
  return { getItem: (key) => stored[key] ?? null, setItem: (key, value) => (stored[key] = value), removeItem: (key) => delete stored[key] };
}

const listeners = new EventTarget();
const document = Object.assign(new EventTarget(), {
  hidden: false,
  baseURI: "http://robot.example:8080/",
  activeElement: null,
  documentElement: new Element("html"),
  found: {}, // the results of querySelectorAll, by selector
  getElementById: element,
  createElement: () => new Element(),
  createElementNS: () => new Element(),
  querySelector: (selector) => document.documentElement.querySelector(selector),
  querySelectorAll: (selector) => document.found[selector] ?? [],
});

const globals = {
  document,
  window: globalThis,
  location: { protocol: "http:", host: "robot.example:8080", href: "http://robot.example:8080/" },
  localStorage: storage(),
  sessionStorage: storage(),
  devicePixelRatio: 2,
  isSecureContext: true,
  WebSocket: FakeSocket,
  ResizeObserver: class { observe() {} },
  matchMedia: () => new EventTarget(),
  // An observed element is in sight at once.
  IntersectionObserver: class {
    constructor(changed) { this.changed = changed; }
    observe(target) { this.changed([{ target, isIntersecting: true }]); }
    unobserve() {}
  },
  createImageBitmap: async (file) => {
    if (file.broken) throw new Error("no picture");
    return { width: file.width, height: file.height, close() { file.closed = true; } };
  },
  OffscreenCanvas: class extends Element { constructor(width, height) { super(); Object.assign(this, { width, height }); } },
  Option: class { constructor(text, value) { Object.assign(this, { text, value }); } },
  getComputedStyle: () => ({ getPropertyValue: (name) => ` ${document.documentElement.dataset.theme ?? "light"}${name} ` }),
  navigator: { getGamepads: () => [] },
  fetch: async (path, { method } = {}) => {
    requests.push(method ? `${method} ${path}` : path);
    return replies[path] ?? { ok: false, text: async () => "no reply\n" };
  },
  matchMedia: () => Object.assign(new EventTarget(), { matches: false }),
  addEventListener: listeners.addEventListener.bind(listeners),
  dispatchEvent: listeners.dispatchEvent.bind(listeners),
  requestAnimationFrame: (run) => addTimer(run, 16),
  setTimeout: (run, ms) => addTimer(run, ms),
  clearTimeout: removeTimer,
  setInterval: (run, ms) => addTimer(run, ms, ms),
};
for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
performance.now = () => clock.now;

// The script that the page has before its modules, without an offer: it opens nothing.
runInThisContext(readFileSync(fileURLToPath(new URL("../page/first.js", import.meta.url)), "utf8"));

// settle lets the dashboard's promises run.
export const settle = () => new Promise((done) => setImmediate(done));
