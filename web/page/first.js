// What does not wait for the modules of the page: the theme, which is set before anything
// is drawn, and the first sockets and requests, each of which costs round trips. It is a
// classic script.
"use strict";

/** @import { First, Offer } from "../types" */

// Sets the theme, light or dark, as the user chose on this page or else in the system.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = localStorage.getItem("theme") || (dark.matches ? "dark" : "light");
    dispatchEvent(new Event("themechange"));
  };
  dark.addEventListener("change", apply);
  addEventListener("toggletheme", () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

{
  /** @type {First} */
  const first = {
    page: Math.random().toString(36).slice(2, 6),
    opened: new Map(),
    plan: undefined,
    watched: 6,
    rate: 20,
    devices: "plsmgzv",
    address(path, parameters = {}) {
      const protocol = location.protocol === "https:" ? "wss" : "ws";
      return `${protocol}://${location.host}/${path}?${new URLSearchParams({ ...parameters, page: this.page })}`;
    },
    stream: (robot, rate, letters) => {
      return { robot, rate: String(rate), request: [...letters].map((letter) => `${letter}r`).join("") };
    },
  };
  window.first = first;

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
    const { robots, world } = /** @type {Offer} */ (JSON.parse(text)), shown = sessionStorage.getItem("shown");
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
