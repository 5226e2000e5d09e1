// The dashboard: the list of robots, the one that is shown, and when to draw.

import { Body, Camera, Gripper } from "./devices.js";
import { $, download, part } from "./dom.js";
import { Driver } from "./drive.js";
import { Editor } from "./edit.js";
import { People } from "./people.js";
import { Presence } from "./presence.js";
import { Rail } from "./rail.js";
import { Robot } from "./robot.js";
import { Scope } from "./scope.js";
import { stateOf } from "./state.js";
import * as text from "./text.js";
import { World } from "./world.js";
import { Chips } from "./chips.js";
import { bindControls } from "./controls.js";
import { Dock } from "./dock.js";
import { Fleet } from "./fleet.js";
import { Panels } from "./panels.js";
import { keepList, keptList } from "./kept.js";
import { bindSimulation } from "./simulation.js";

/** @import { Letter, Offer, RobotOptions } from "../types" */

const TEXT_PERIOD = 250; // ms between updates of ages and rates: faster ones cannot be read
const OLD = 0.5, DEAD = 2; // seconds of age that cause a warning and an alarm

const driver = new Driver();
const scope = new Scope($("scope"));
scope.press = (point) => driver.press(point);
const camera = new Camera(driver), gripper = new Gripper(driver), body = new Body();
const chips = new Chips($("devices"), { old: OLD, dead: DEAD });
/** @type {Robot[]} */
const robots = [];
const presence = new Presence(), people = new People(driver, presence, robots);
const panels = new Panels($("others"), driver, () => {
  people.collect();
  people.disable();
});
/** @type {Robot | null} */
let shown = null;
/** @type {World | null} */
let world = null;
/** @type {Editor | null} */
let editor = null;

const rail = new Rail($("robots"), {
  select(robot) {
    foldRobots(true);
    show(robot);
  },
  pin(robot) {
    robot.pinned = !robot.pinned;
    updateWatch(robot);
    robot.changed();
  },
  stop: (robot) => people.stop([robot]),
  remove(robot) {
    robot.unwatch();
    robots.splice(robots.indexOf(robot), 1);
    rail.remove(robot);
    timeline.forget(robot);
    remember();
    if (robot === shown) show(robots[0] ?? null);
  },
}, (robot) => people.halt(robot));

const dock = new Dock(driver), { timeline } = dock, fleet = new Fleet(robots, rail);
rail.lens = (robot) => timeline.of(robot);
timeline.addEventListener("change", () => {
  if (world) timeline.past ? world.freeze(timeline.moment(world)?.poses ?? []) : world.thaw();
  refresh();
  for (const robot of robots) rail.update(robot);
});

// foldRobots hides the list on screens with little room.
function foldRobots(on) {
  $("rail").classList.toggle("open", !on);
  $("robots-open").setAttribute("aria-expanded", String(!on));
}

// updateWatch watches a robot if it is shown or pinned.
/** @param {Robot} robot */
function updateWatch(robot) {
  const wanted = robot === shown || robot.pinned;
  if (wanted && robot.state === "off") robot.watch();
  if (!wanted && robot.state !== "off") robot.unwatch();
}

/** @param {RobotOptions} options */
function add(options) {
  const robot = new Robot(options);
  robots.push(robot);
  rail.add(robot);
  robot.addEventListener("change", () => {
    timeline.keepRobot(robot, robot !== shown);
    if (timeline.past) return;
    rail.update(robot);
    world?.view.changed();
    if (robot === shown) refresh();
  });
  return robot;
}

/** @param {Robot | null} robot */
function show(robot) {
  if (robot === shown) return;
  const last = shown;
  shown = robot;
  if (last && robots.includes(last)) updateWatch(last);
  if (robot) updateWatch(robot);
  driver.select(robot);
  people.show(robot);
  dock.show(robot);
  scope.show(robot);
  chips.show(robot);
  rail.select(robot);
  if (world) world.selected = robot?.mover ?? -1;
  world?.view.changed();
  $("robot-name").textContent = robot?.name ?? "No robot";
  if (robot) {
    $("rate").value = String(robot.rate);
    first.keep("shown", robot.address); // keys drive the same robot after a reload
  }
  linkPages(robot);
  refresh();
}

// linkPages links the pages of a robot's plugins: each in the panel of its device, or next to
// the robot's name.
/** @param {Robot | null} robot */
function linkPages(robot) {
  for (const link of document.querySelectorAll(".head .page")) link.remove();
  for (const { letter, name, url } of robot?.pages ?? []) {
    const head = document.querySelector(`[data-devices*="${letter}"] .head`) ?? part($("robot"), ".head");
    const href = url.startsWith(":") ? `http://${location.hostname}${url}` : url;
    head.append(Object.assign(document.createElement("a"), { className: "page", textContent: `Page of ${name}`, href, target: "_blank", rel: "noopener" }));
  }
}

// refresh updates what depends on data.
function refresh() {
  if (!shown) return;
  const now = shown, robot = timeline.of(now);
  people.follow();
  scope.robot = robot;
  scope.update();
  camera.update(robot);
  camera.follow(now, timeline.past);
  gripper.update(robot);
  body.update(robot);
  panels.update(now, robot);
  readout(robot);
  /** @type {NodeListOf<HTMLElement>} */
  const lettered = document.querySelectorAll("[data-devices]");
  for (const panel of lettered) {
    const letters = /** @type {Letter[]} */ ([...(panel.dataset.devices ?? "")]);
    const seeing = panel.classList.contains("seeing");
    panel.classList.toggle("idle", !seeing && !letters.some((letter) => robot.data[letter]));
    panel.classList.toggle("absent", !seeing && letters.every((letter) => now.device(letter).access === "e"));
    part(panel, ".head").dataset.refused = text.refused(now.device(letters[0]));
  }
}

/** @param {Robot} robot */
function readout(robot) {
  $("odometry").textContent = text.pose(robot.data.p);
  $("velocity").textContent = text.velocity(robot.data.p);
  $("nearest").textContent = text.distance(robot.nearest());
}

// standing reports whether the world stands still, so that no data comes.
const standing = () => Boolean(world?.paused || world?.finished);

// refreshText updates what depends on time: ages and rates.
function refreshText() {
  chips.update();
  rail.updateAll();
  if (world) {
    const moving = robots.filter((r) => r.mover >= 0 && r.state === "live" && !standing());
    const silent = moving.length > 0 && moving.every((r) => r.silence() > DEAD);
    $("world").classList.toggle("old", world.lost || presence.lost || silent);
  }
  dock.tick();
  camera.tick();
  if (!shown) return;
  const { name, text: state, level } = stateOf(shown);
  $("robots-open").textContent = text.robots(shown, state, robots.length);
  $("robot-state").textContent = name === "live" ? name : state;
  $("robot-state").dataset.level = level;
  const silent = presence.lost ? "" : text.silence(shown, standing(), DEAD); // the alert says it
  $("robot").classList.toggle("old", presence.lost || silent !== "");
  $("robot-note").textContent = presence.lost ? "" : text.robotError(shown) || silent;
  $("robot-flow").textContent = text.traffic(shown);
}

function bindView() {
  $("theme").addEventListener("click", () => dispatchEvent(new Event("toggletheme")));
  addEventListener("themechange", () => {
    scope.view.changed();
    world?.view.changed();
    refresh();
    for (const robot of robots) rail.update(robot);
  });
  $("robots-open").addEventListener("click", () => foldRobots($("robots-open").getAttribute("aria-expanded") === "true"));
  $("scope-up").addEventListener("click", () => {
    scope.headingUp = !scope.headingUp;
    $("scope-up").setAttribute("aria-pressed", String(scope.headingUp));
    scope.fit();
  });
  $("scope-fit").addEventListener("click", () => scope.fit());
  $("rate").addEventListener("change", () => shown?.setRate(+$("rate").value));
  $("add").addEventListener("submit", (e) => {
    e.preventDefault();
    const address = $("host").value.trim();
    const robot = robots.find((r) => r.address === address) ?? add({ name: address, address, typed: true });
    robot.pinned = true;
    remember();
    show(robot);
    $("add").reset();
    $("host").blur(); // keys drive again
  });
  for (const view of ["world", "robot"]) {
    $(`tab-${view}`).addEventListener("click", () => showTab(view));
  }
}

// showTab selects the view on screens with room for only one.
function showTab(view) {
  $("main").dataset.view = view;
  for (const v of ["world", "robot"]) $(`tab-${v}`).setAttribute("aria-pressed", String(v === view));
}

// Robots that the user added are kept for the next visit.
const remember = () => keepList("robots", robots.filter((r) => r.typed).map((r) => r.address));

function startWorld() {
  $("world").hidden = part(document, ".tabs").hidden = false;
  $("main").classList.add("simulated");
  const note = (text) => ($("world-note").textContent = text);
  const simulated = new World($("world-canvas"), { select: show, note });
  world = simulated;
  simulated.addEventListener("scene", () => {
    simulated.assign(robots);
    simulated.selected = shown?.mover ?? -1;
  });
  simulated.lens = rail.lens;
  simulated.press = scope.press;
  simulated.mark = (robot) => fleet.mark(robot);
  simulated.label = (robot) => (stateOf(robot).name === "stopped" ? `${robot.name} · stopped` : robot.name);
  simulated.addEventListener("time", () => timeline.keep(simulated, () => ({ poses: simulated.now })));
  bindSimulation(simulated);
  $("world-fit").addEventListener("click", () => simulated.fit());
  editor = new Editor(simulated, (name, text) => download(name, new Blob([text], { type: "text/plain" })));
  simulated.start();
}

// followPresence shows what the server sends of all robots, and that it is gone.
function followPresence(offer) {
  presence.addEventListener("change", () => {
    if (world) world.locked = presence.lost || !people.may("write");
    world?.view.changed();
    fleet.update();
    refreshText();
  });
  presence.addEventListener("lost", () => {
    for (const robot of robots) robot.motors = undefined; // another client may switch them
    driver.halt("stopped: the server does not answer");
    driver.close();
    lose(true);
  });
  presence.addEventListener("back", async () => {
    lose(false);
    for (const robot of robots) if (robot.state === "lost") robot.watch();
    const now = await fetch("robots").catch(() => null);
    if (!now?.ok || (await now.text()) === offer) return;
    if (!editor?.draft?.edited) return location.reload();
    // The edits may be only in this page.
    presence.problem = "The server has other robots or rights now: save what you have edited, and reload the page.";
    presence.changed();
  });
  presence.start();
}

function lose(gone) {
  document.documentElement.classList.toggle("gone", gone);
  dock.lose(gone);
}

async function start() {
  const icon = /** @type {HTMLLinkElement} */ (part(document, "link[rel=icon]")); // its address has the digest of the page
  $("icon").src = icon.href;
  bindControls(driver);
  bindView();
  const offered = $("offer").textContent;
  if (!offered) { // this computer may not read: the server says why
    const reply = await fetch("robots").catch(() => null);
    $("robot-note").textContent = reply ? await reply.text() : "The server does not answer: reload the page.";
    return;
  }
  const offer = /** @type {Offer} */ (JSON.parse(offered));
  people.visitor = offer;
  part(document, "h1").title = offer.version;
  const newest = JSON.parse($("newest").textContent || "{}");
  for (const robot of offer.robots) add({ ...robot, newest: newest[robot.address] });
  for (const address of keptList("robots") ?? []) add({ name: address, address, typed: true });
  if (offer.world) startWorld();
  followPresence(offered);
  showTab(offer.world ? "world" : "robot");
  if (offer.robots.length <= first.watched) {
    for (const robot of robots.slice(0, offer.robots.length)) {
      robot.pinned = true;
      updateWatch(robot);
    }
  }
  fleet.start();
  const shownBefore = first.kept("shown");
  show(robots.find(({ address }) => address === shownBefore) ?? robots[0] ?? null);
  for (const [address, { socket }] of first.opened) {
    if (!address.includes("/stream?")) continue;
    socket.close(); // another robot is shown
    first.opened.delete(address);
  }
  for (const robot of robots) robot.newest = undefined; // those that are watched later have newer data
  refreshText();
  setInterval(refreshText, TEXT_PERIOD);
}

// For the browser's console and for tests.
window.player = {
  get editor() { return editor; }, get world() { return world; }, get shown() { return shown; },
  dock, driver, fleet, people, presence, robots, scope, timeline, show,
};
start();
