// Camera, gripper and body of the robot that is shown.

import { sized, stroke } from "./canvas.js";
import { $, download, part } from "./dom.js";
import { lensOf, projected } from "./geometry.js";
import { Picture } from "./picture.js";
import { fieldOfView } from "./pioneer.js";
import * as text from "./text.js";
import { palette } from "./view.js";

/** @import { Context, Key, Letter, Name, Other } from "../types" */
/** @import { Driver } from "./drive.js" */
/** @import { Robot } from "./robot.js" */

const WIDTH = 160, HEIGHT = 120; // pixels of the image that ACTS tracks colours in
const LOOK_PERIOD = 80; // ms between the commands of a slider that is moved
const TAP = 6; // pixels: a pointer that moves less does not drag
const WHEEL_ZOOM = 40; // units of zoom (0 to 1023) for a notch of the wheel
const MARK = 1.5; // pixels of the image: the size of the mark of a laser reading
const SLIDER_REST = 4000; // ms after which untouched sliders follow the camera again

// CHANNELS are the colours of the simulator's tracker. A real tracker may have
// been trained for others; then the colours only distinguish the channels.
const CHANNELS = [
  ["red", "#e5484d"], ["green", "#46a758"], ["blue", "#3e83f0"], ["yellow", "#e9c46a"], ["orange", "#f0883e"],
  ["purple", "#8e4ec6"], ["cyan", "#22b8cf"], ["magenta", "#d6409f"], ["pink", "#f1a7c4"], ["brown", "#a37764"],
];
const channelColor = (i) => CHANNELS[i]?.[1] ?? `hsl(${(i * 47) % 360} 60% 60%)`;

// Choice is a list of the devices of an interface, if a robot has more than one. The chosen one is a letter
// or a name.
class Choice {
  /** @type {(head: HTMLElement, label: string, letter: Letter, kind: string) => Choice} */
  static in(head, label, letter, kind) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", label);
    select.dataset.needs = "read";
    head.append(select);
    return new Choice(select, letter, kind);
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {Letter} letter
   * @param {string} kind
   */
  constructor(select, letter, kind) {
    this.select = select;
    this.letter = letter;
    this.kind = kind;
    this.keys = "";
    this.update([]);
  }

  // update offers the devices of a robot. A chosen device stays if it is there.
  /** @param {Other[]} others */
  update(others) {
    const keys = [this.letter, ...others.filter((o) => o.interface === this.kind).map(({ name }) => name)];
    if (this.keys === keys.join()) return;
    this.keys = keys.join();
    const { value } = this.select;
    this.select.replaceChildren(...keys.map((key, i) => new Option(key.length > 1 ? key : `${this.kind}:${i}`, key)));
    this.select.value = keys.includes(/** @type {Key} */ (value)) ? value : this.letter;
    this.select.hidden = keys.length < 2;
  }

  // key returns what is chosen; device is the part of a command that says so.
  get key() { return /** @type {Key} */ (this.select.value); }
  get device() { return this.key.length > 1 ? { device: /** @type {Name} */ (this.key) } : {}; }
}

export class Camera {
  /** @param {Driver} driver */
  constructor(driver) {
    this.driver = driver;
    this.canvas = $("image");
    const head = part($("camera"), ".head");
    this.heads = Choice.in(head, "Pan-tilt head", "z", "ptz"), this.eyes = Choice.in(head, "Device with blobs", "v", "vision");
    for (const { select } of [this.heads, this.eyes]) {
      select.addEventListener("change", () => {
        this.touchedAt = -Infinity;
        if (this.robot) this.update(this.robot);
      });
    }
    this.touchedAt = -Infinity; // when a slider was moved
    /** @type {Robot | null} */
    this.robot = null;
    for (const id of ["pan", "tilt", "zoom"]) $(id).addEventListener("input", () => this.look());
    $("ahead").addEventListener("click", () => {
      $("pan").value = $("tilt").value = $("zoom").value = "0";
      this.look();
    });
    new ResizeObserver(() => this.robot && this.update(this.robot)).observe(this.canvas);
    this.large = false; // as large as the page
    this.marksLaser = true; // in the picture
    this.cameras = ""; // the names in the list
    this.picture = new Picture(this.canvas);
    this.picture.addEventListener("change", () => this.redraw());
    $("picture-large").addEventListener("click", () => this.enlarge());
    $("picture-laser").addEventListener("click", () => {
      this.marksLaser = !this.marksLaser;
      $("picture-laser").setAttribute("aria-pressed", String(this.marksLaser));
      this.redraw();
    });
    $("picture-save").addEventListener("click", () => this.save());
    $("picture-choice").addEventListener("change", () => this.picture.show($("picture-choice").value));
    this.bindCanvas();
  }

  // bindCanvas: a tap enlarges the picture, a drag moves the camera with it, a wheel zooms.
  bindCanvas() {
    const { canvas } = this;
    /** @type {{ x: number, y: number, pan: number, tilt: number, moved: boolean } | null} */
    let grip = null;
    canvas.addEventListener("pointerdown", (e) => {
      grip = { x: e.clientX, y: e.clientY, pan: +$("pan").value, tilt: +$("tilt").value, moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!grip) return;
      const dx = e.clientX - grip.x, dy = e.clientY - grip.y;
      grip.moved ||= Math.hypot(dx, dy) > TAP;
      if (!grip.moved || !this.turns()) return;
      const degrees = (fieldOfView(+$("zoom").value) * 180) / Math.PI / canvas.clientWidth; // of a pixel
      $("pan").value = String(Math.round(grip.pan - dx * degrees));
      $("tilt").value = String(Math.round(grip.tilt + dy * degrees));
      this.look();
    });
    canvas.addEventListener("pointerup", () => {
      if (grip && !grip.moved && this.picture.bitmap) this.enlarge();
      grip = null;
    });
    canvas.addEventListener("pointercancel", () => (grip = null));
    canvas.addEventListener("wheel", (e) => {
      if (!this.turns()) return;
      e.preventDefault();
      $("zoom").value = String(+$("zoom").value - Math.sign(e.deltaY) * WHEEL_ZOOM);
      this.look();
    }, { passive: false });
  }

  // turns reports whether this page may turn the camera.
  turns() { return this.robot?.device("z").access !== "e" && !$("pan").disabled; }

  enlarge() {
    this.large = !this.large;
    $("picture-large").setAttribute("aria-pressed", String(this.large));
    $("camera").classList.toggle("large", this.large);
  }

  save() {
    const { file, camera } = this.picture;
    if (file) download(`${camera}-${new Date().toISOString().replaceAll(":", "")}.jpg`, file);
  }

  // follow shows the pictures of a robot's cameras, by name. There are none of the past.
  /** @type {(robot: Robot, past: boolean) => void} */
  follow(robot, past) {
    const names = past ? [] : robot.cameras, choice = $("picture-choice"), list = names.join();
    if (this.cameras !== list) {
      this.cameras = list;
      choice.replaceChildren(...names.map((name) => new Option(name, name)));
      this.picture.show(names[0] ?? "");
    }
    choice.hidden = names.length < 2;
    $("camera").classList.toggle("seeing", names.length > 0);
    $("camera").classList.toggle("fixed", robot.device("z").access === "e");
    this.redraw();
  }

  // redraw shows the newest picture; tick the age of it.
  redraw() {
    this.tick();
    if (this.robot) this.draw(this.robot.data[this.eyes.key]);
  }

  tick() {
    const { picture } = this;
    $("picture-age").textContent = picture.bitmap ? text.pictureAge(picture.age()) : "";
    $("picture-note").textContent = picture.camera ? picture.problem || (picture.bitmap ? "" : "waiting for a picture") : "";
    $("picture-laser").hidden = !(picture.bitmap && picture.view && this.robot?.data.l);
    $("picture-save").disabled = $("picture-large").disabled = !picture.bitmap;
  }

  // look sends the positions of the sliders, at most once in LOOK_PERIOD.
  look() {
    this.touchedAt = performance.now();
    this.label();
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // Left is positive on the wire, and left on the dashboard.
      this.driver.send({ ...this.heads.device, look: [-$("pan").value, +$("tilt").value, +$("zoom").value] });
    }, LOOK_PERIOD);
  }

  label() {
    $("pan").setAttribute("aria-valuetext", text.side(-$("pan").value, "left", "right"));
    $("tilt").setAttribute("aria-valuetext", text.side(+$("tilt").value, "up", "down"));
  }

  /** @param {Robot} robot */
  update(robot) {
    for (const choice of [this.heads, this.eyes]) choice.update(robot.others ?? []);
    const blobs = robot.data[this.eyes.key], ptz = robot.data[this.heads.key];
    if (robot !== this.robot) this.touchedAt = -Infinity;
    this.robot = robot;
    $("blob-count").textContent = text.blobCount(blobs);
    $("ptz-out").textContent = text.ptz(ptz);
    // The sliders follow the camera, but not while the user moves them.
    const grabbed = document.activeElement?.matches("#pan:active, #tilt:active, #zoom:active");
    if (ptz && performance.now() - this.touchedAt > SLIDER_REST && !grabbed) {
      $("pan").value = String(-ptz.pan);
      $("tilt").value = String(ptz.tilt);
      $("zoom").value = String(ptz.zoom);
      this.label();
    }
    this.draw(blobs);
  }

  draw(blobs) {
    const { canvas } = this, colors = palette(), { c, width, height } = sized(canvas);
    c.setTransform(width / WIDTH, 0, 0, height / HEIGHT, 0, 0);
    c.clearRect(0, 0, WIDTH, HEIGHT);
    const { bitmap } = this.picture;
    canvas.style.aspectRatio = bitmap ? `${bitmap.width} / ${bitmap.height}` : "";
    if (bitmap) {
      c.drawImage(bitmap, 0, 0, WIDTH, HEIGHT);
    } else {
      c.beginPath();
      c.moveTo(WIDTH / 2, 0), c.lineTo(WIDTH / 2, HEIGHT), c.moveTo(0, HEIGHT / 2), c.lineTo(WIDTH, HEIGHT / 2);
      stroke(c, colors.grid, 0.5);
    }
    this.drawLaser(c);
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
      c.moveTo(b.x - 2.5, b.y + 0.5), c.lineTo(b.x + 3.5, b.y + 0.5);
      c.moveTo(b.x + 0.5, b.y - 2.5), c.lineTo(b.x + 0.5, b.y + 3.5);
      stroke(c, colors.text, 1);
      c.font = "7px system-ui, sans-serif";
      c.fillStyle = colors.text;
      const label = `${CHANNELS[b.channel]?.[0] ?? `channel ${b.channel}`} ${b.area} px`;
      const left = Math.max(1, Math.min(b.left, WIDTH - 2 - c.measureText(label).width));
      c.fillText(label, left, b.top > 10 ? b.top - 2.5 : Math.min(b.bottom + 8, HEIGHT - 2));
    }
  }

  // drawLaser marks what the laser detects where the picture shows it.
  /** @param {Context} c */
  drawLaser(c) {
    const { robot, picture: { bitmap, view } } = this, laser = robot?.data.l;
    if (!bitmap || !view || !robot || !laser || !this.marksLaser) return;
    const lens = lensOf(view, robot.mounts.Camera, robot.data.z);
    c.fillStyle = palette().laser;
    for (const p of projected(laser, robot.mounts.Laser, lens, bitmap.width / bitmap.height)) {
      c.fillRect(p.x * WIDTH - MARK / 2, p.y * HEIGHT - MARK / 2, MARK, MARK);
    }
  }
}

export class Gripper {
  /** @param {Driver} driver */
  constructor(driver) {
    $("grip-buttons").addEventListener("click", (e) => {
      const code = Number(/** @type {HTMLElement} */ (e.target).dataset.grip);
      if (code) driver.send({ ...this.choice.device, grip: [code, 0] });
    });
    this.choice = Choice.in(part($("gripper"), ".head"), "Gripper", "g", "gripper");
    this.choice.select.addEventListener("change", () => this.robot && this.update(this.robot));
    /** @type {Robot | null} */
    this.robot = null;
  }

  /** @param {Robot} robot */
  update(robot) {
    this.robot = robot;
    this.choice.update(robot.others ?? []);
    $("grip-state").textContent = text.gripper(robot.data[this.choice.key]);
  }
}

export class Body {
  /** @param {Robot} robot */
  update({ data }) {
    const state = text.body(data), volts = data.m?.volts;
    $("bumper-state").textContent = state.text;
    $("bumper-state").classList.toggle("bad", state.alarm);
    $("volts").textContent = text.volts(data.m);
    $("battery").value = volts ?? 0;
  }
}
