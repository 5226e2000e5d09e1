// What does not wait for the modules of the page: what the browser keeps, the theme, which is
// set before anything is drawn, and the first sockets and requests, each of which costs round
// trips. It is a classic script.
"use strict";

/** @import { First, Kept, Offer } from "../types" */

{
  /** @type {(value: any) => boolean} */
  const isText = (value) => typeof value === "string";
  /** @type {(value: any) => boolean} */
  const isTexts = (value) => Array.isArray(value) && value.every(isText);
  // What the browser keeps: for the user ("localStorage") or for this tab, what it may be, and
  // whether it is stored as JSON. Another program at the same address may have stored anything.
  /** @type {{ [Name in keyof Kept]: [storage: "localStorage" | "sessionStorage", valid: (value: any) => boolean, json: boolean] }} */
  const kinds = {
    theme: ["localStorage", (value) => value === "dark" || value === "light", false],
    robots: ["localStorage", isTexts, true],
    plots: ["localStorage", isTexts, true],
    shown: ["sessionStorage", isText, false],
    editing: ["sessionStorage", isText, false],
  };
  // A browser that refuses to keep data throws at each use. The page has its values until it is closed.
  /** @type {Map<string, any>} */
  const here = new Map();
  /** @type {Pick<First, "kept" | "keep">} */
  const keeper = {
    kept(name) {
      if (here.has(name)) return here.get(name);
      const [storage, valid, json] = kinds[name];
      try {
        const text = window[storage].getItem(name), value = json ? JSON.parse(text ?? "null") : text;
        return valid(value) ? value : null;
      } catch {
        return null;
      }
    },
    keep(name, value) {
      const [storage, , json] = kinds[name];
      try {
        window[storage].setItem(name, json ? JSON.stringify(value) : String(value));
        here.delete(name);
      } catch {
        here.set(name, value);
      }
    },
  };
  /** @type {First} */
  const first = {
    ...keeper,
    page: Math.random().toString(36).slice(2, 6),
    opened: new Map(),
    plan: undefined,
    watched: 6,
    rate: 20,
    devices: "plsmgzv",
    address(path, parameters = {}) {
      const url = new URL(path, document.baseURI.replace(/^http/, "ws")); // a proxy may have the page below a path
      url.search = String(new URLSearchParams({ ...parameters, page: this.page }));
      return url.href;
    },
    stream: (robot, rate, letters) => {
      return { robot, rate: String(rate), request: [...letters].map((letter) => `${letter}r`).join("") };
    },
  };
  window.first = first;

  // The theme, light or dark, as the user chose on this page or else in the system.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = first.kept("theme") ?? (dark.matches ? "dark" : "light");
    dispatchEvent(new Event("themechange"));
  };
  dark.addEventListener("change", apply);
  addEventListener("toggletheme", () => {
    first.keep("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();

  /** @type {(path: string, parameters?: Record<string, string>) => void} */
  const open = (path, parameters) => {
    const address = first.address(path, parameters), socket = new WebSocket(address);
    /** @type {Event[]} */
    const events = [];
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => events.push(event);
    socket.onclose = (event) => events.push(event);
    first.opened.set(address, { socket, events });
  };

  const text = document.getElementById("offer")?.textContent;
  if (text) {
    const { robots, world } = /** @type {Offer} */ (JSON.parse(text)), shown = first.kept("shown");
    const one = shown ? robots.filter(({ address }) => address === shown) : robots.slice(0, 1);
    for (const { address } of robots.length <= first.watched ? robots : one) {
      open("stream", first.stream(address, first.rate, first.devices));
    }
    open("presence");
    if (world) {
      open("world");
      // Behind the request for the modules, which gets the connection that this page came on.
      document.addEventListener("readystatechange", () => (first.plan = fetch("plan").catch(() => null)), { once: true });
    }
  }
}
