// The part that does not wait for the modules of the page: the store of the browser, the theme, which is
// set before anything is drawn, and the first sockets and requests, each of which costs round
// trips. It is a classic script.
"use strict";

/** @import { First, Offer } from "../types" */

{
  // A browser that refuses to keep data throws at each use of it: the page has its values then.
  const here = new Map();
  const storage = (name) => (/shown|editing/.test(name) ? sessionStorage : localStorage);
  /** @type {First} */
  const first = {
    kept(name) {
      try {
        return here.get(name) ?? storage(name).getItem(name);
      } catch {
        return null;
      }
    },
    keep(name, text) {
      try {
        storage(name).setItem(name, text);
        here.delete(name);
      } catch {
        here.set(name, text);
      }
    },
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
    async refusal() {
      const reply = await fetch("robots", { method: "POST" }).catch(() => null);
      return reply?.status === 403 ? "The server refuses this page: " + (await reply.text()) : "";
    },
    stream: (robot, rate, letters) => {
      return { robot, rate: String(rate), equipment: "1", request: [...letters].map((letter) => `${letter}r`).join("") };
    },
  };
  window.first = first;

  // The modules have the body of the page; without them it is empty.
  addEventListener("error", async ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    document.body.textContent = (await first.refusal()) || "Reload this page.";
  }, true);

  // The theme, light or dark: the user's choice on this page, or else in the system.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = first.kept("theme") ?? "";
    document.documentElement.dataset.theme = /^(dark|light)$/.test(theme) ? theme : dark.matches ? "dark" : "light";
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
