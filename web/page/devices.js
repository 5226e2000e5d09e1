// Camera, gripper and body of the robot that is shown.

import { fieldOfView } from "./pioneer.js";
import { palette } from "./view.js";

const WIDTH = 160, HEIGHT = 120; // pixels of the image that ACTS tracks colours in
const LOOK_PERIOD = 80; // ms between the orders of a slider

// CHANNELS: the colours of the simulator's tracker. A real one has been trained
// for others, and then a channel's colour is only a way to tell it from the
// next.
const CHANNELS = [
  ["red", "#e5484d"], ["green", "#46a758"], ["blue", "#3e83f0"], ["yellow", "#e9c46a"], ["orange", "#f0883e"],
  ["purple", "#8e4ec6"], ["cyan", "#22b8cf"], ["magenta", "#d6409f"], ["pink", "#f1a7c4"], ["brown", "#a37764"],
];
const channelColor = (i) => CHANNELS[i]?.[1] ?? `hsl(${(i * 47) % 360} 60% 60%)`;

const $ = (id) => document.getElementById(id);
const side = (deg, plus, minus) => (deg === 0 ? "0°" : `${Math.abs(deg)}° ${deg > 0 ? plus : minus}`);

export class Camera {
  constructor(driver) {
    Object.assign(this, { driver, canvas: $("image"), touchedAt: -Infinity });
    for (const id of ["pan", "tilt", "zoom"]) $(id).addEventListener("input", () => this.look());
    $("ahead").addEventListener("click", () => {
      $("pan").value = $("tilt").value = $("zoom").value = 0;
      this.look();
    });
    new ResizeObserver(() => this.robot && this.update(this.robot)).observe(this.canvas);
  }

  // look sends where the sliders are, soon.
  look() {
    this.touchedAt = performance.now();
    this.label();
    this.timer ??= setTimeout(() => {
      this.timer = null;
      // Left is positive on the wire, and left on the page.
      this.driver.send({ look: [-$("pan").value, +$("tilt").value, +$("zoom").value] });
    }, LOOK_PERIOD);
  }

  label() {
    $("pan").setAttribute("aria-valuetext", side(-$("pan").value, "left", "right"));
    $("tilt").setAttribute("aria-valuetext", side(+$("tilt").value, "up", "down"));
  }

  update(robot) {
    const { v: blobs, z: ptz } = robot.data;
    if (robot !== this.robot) this.touchedAt = -Infinity;
    this.robot = robot;
    $("blob-count").textContent = blobs ? `${blobs.length || "no"} blob${blobs.length === 1 ? "" : "s"}` : "";
    $("ptz-out").textContent = ptz ? `${side(ptz.pan, "L", "R")} · ${side(ptz.tilt, "up", "dn")} · ${((fieldOfView(ptz.zoom) * 180) / Math.PI).toFixed(0)}° wide` : "";
    // The sliders follow the camera, but not while it follows them.
    if (ptz && performance.now() - this.touchedAt > 4000 && !document.activeElement?.matches("#pan:active, #tilt:active, #zoom:active")) {
      $("pan").value = -ptz.pan;
      $("tilt").value = ptz.tilt;
      $("zoom").value = ptz.zoom;
      this.label();
    }
    this.draw(blobs);
  }

  draw(blobs) {
    const { canvas } = this, ratio = devicePixelRatio || 1, colors = palette(), c = canvas.getContext("2d");
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    c.setTransform(width / WIDTH, 0, 0, height / HEIGHT, 0, 0);
    c.clearRect(0, 0, WIDTH, HEIGHT);
    c.strokeStyle = colors.grid;
    c.lineWidth = 0.5;
    c.beginPath();
    c.moveTo(WIDTH / 2, 0), c.lineTo(WIDTH / 2, HEIGHT), c.moveTo(0, HEIGHT / 2), c.lineTo(WIDTH, HEIGHT / 2);
    c.stroke();
    if (!blobs) return;
    for (const b of blobs) {
      const color = channelColor(b.channel), w = b.right - b.left + 1, h = b.bottom - b.top + 1;
      c.fillStyle = c.strokeStyle = color;
      c.globalAlpha = 0.55;
      c.fillRect(b.left, b.top, w, h);
      c.globalAlpha = 1;
      c.lineWidth = 1;
      c.strokeRect(b.left, b.top, w, h);
      c.beginPath();
      c.strokeStyle = colors.text;
      c.moveTo(b.x - 2.5, b.y + 0.5), c.lineTo(b.x + 3.5, b.y + 0.5), c.moveTo(b.x + 0.5, b.y - 2.5), c.lineTo(b.x + 0.5, b.y + 3.5);
      c.stroke();
      c.font = "7px system-ui, sans-serif";
      c.fillStyle = colors.text;
      const label = `${CHANNELS[b.channel]?.[0] ?? `channel ${b.channel}`} ${b.area}`;
      c.fillText(label, Math.max(1, Math.min(b.left, WIDTH - 2 - c.measureText(label).width)), b.top > 10 ? b.top - 2.5 : Math.min(b.bottom + 8, HEIGHT - 2));
    }
  }
}

const PADDLES = [[4, "moving"], [8, "error"], [1, "open"], [2, "closed"]];
const LIFT = [[64, "moving"], [128, "error"], [16, "up"], [32, "down"]];
const word = (bits, table) => table.find(([bit]) => bits & bit)?.[1] ?? "between";

export class Gripper {
  constructor(driver) {
    $("grip-buttons").addEventListener("click", (e) => {
      const code = +e.target.dataset.grip;
      if (code) driver.send({ grip: [code, 0] });
    });
  }

  update({ data: { g } }) {
    const beams = g && (g.beams & 8 ? "holds something" : g.beams & 4 ? "something between" : "");
    $("grip-state").textContent = g ? [`paddles ${word(g.state, PADDLES)}`, `lift ${word(g.state, LIFT)}`, beams].filter(Boolean).join(" · ") : "";
  }
}

const count = (bits) => [0, 1, 2, 3, 4].filter((i) => (bits >> i) & 1).length;

export class Body {
  update({ data: { m, p } }) {
    const bumpers = m && [[m.front, "front"], [m.rear, "rear"]].filter(([bits]) => bits).map(([bits, end]) => `${count(bits)} ${end}`);
    const text = [bumpers?.length ? `bumpers: ${bumpers.join(", ")}` : m ? "bumpers clear" : "", p?.stall ? "wheels stalled" : ""].filter(Boolean).join(" · ");
    $("bumper-state").textContent = text;
    $("bumper-state").classList.toggle("bad", Boolean(bumpers?.length || p?.stall));
    $("volts").textContent = m ? `${m.volts.toFixed(1)} V` : "–";
    $("battery").value = m?.volts ?? 0;
  }
}
