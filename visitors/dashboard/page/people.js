// The driver of the robot that is shown, other clients, emergency stops, and
// which controls are disabled for which reason.

import { $ } from "./dom.js";
import * as text from "./text.js";

/** @import { Visitor } from "../types" */
/** @import { Driver } from "./drive.js" */
/** @import { Presence } from "./presence.js" */
/** @import { Robot } from "./robot.js" */

export class People {
  // visitor is the address of this computer and its rights; robots are all that are
  // listed.
  /**
   * @param {Driver} driver
   * @param {Presence} presence
   * @param {Robot[]} robots
   */
  constructor(driver, presence, robots) {
    this.driver = driver;
    this.presence = presence;
    this.robots = robots;
    /** @type {Robot | null} */
    this.robot = null;
    /** @type {Visitor} */
    this.visitor = { you: "", may: "", takes: false };
    this.takable = false; // control of the robot can be taken
    this.lost = false; // the controls are shown as for a robot that is lost
    /** @type {{ control: HTMLButtonElement, title: string, needs: string[] }[]} */
    this.controls = [];
    this.collect();
    presence.addEventListener("change", () => this.update());
    driver.addEventListener("stop", () => this.stop(this.shown()));
    $("stop").addEventListener("click", () => this.stop(this.shown()));
    $("stop-all").addEventListener("click", () => this.stop(this.robots));
    $("release").addEventListener("click", () => presence.stop(this.shown(), false));
    $("release-all").addEventListener("click", () => presence.stop(robots.filter((robot) => robot.stopped), false));
    $("take").addEventListener("click", () => (driver.keeps ? driver.halt() : driver.take()));
    driver.addEventListener("change", () => this.updateTake());
  }

  /** @param {Robot | null} robot */
  show(robot) {
    this.robot = robot;
    this.update();
  }

  // collect finds the controls of the page, also those that are new.
  collect() {
    const known = new Map(this.controls.map((c) => [c.control, c]));
    /** @type {NodeListOf<HTMLButtonElement>} */
    const controls = document.querySelectorAll("[data-needs]"); // and the stick, for which disabled has no effect
    this.controls = [...controls].map((control) => known.get(control) ?? {
      control, title: control.title, needs: control.dataset.needs?.split(" ") ?? [],
    });
  }

  // follow disables the controls of a robot that is lost, and enables them when it is back.
  follow() {
    if (Boolean(this.robot?.retry) !== this.lost) this.disable();
  }

  shown() { return this.robot ? [this.robot] : []; }

  may(right) { return this.visitor.may.includes(right); }

  /** @param {Robot[]} robots */
  stop(robots) {
    if (robots.some((robot) => robot === this.driver.robot)) this.driver.halt();
    if (this.may("write")) this.presence.stop(robots);
  }

  // halt returns what the Stop of a robot says, and why it cannot be pressed, or "".
  /** @param {Robot} robot */
  halt(robot) {
    const stopped = robot.stopped && !this.presence.lost; // an unknown state is not shown
    const text = stopped ? "Stopped" : this.presence.asking.has(robot) ? "Stopping" : "Stop";
    return { text, why: this.reason(["write"]) };
  }

  // reason returns why a control is disabled; empty: it is not.
  reason(needs) {
    if (this.presence.lost) return text.unheard(this.presence.heard);
    for (const need of needs) {
      if (this.lost && (need === "moves" || need === "config")) return "Nothing comes from the robot: it may be off.";
      if (need === "local") {
        if (!/^(127\.|::1$)/.test(this.visitor.you)) return "Only a browser on the server's computer can add robots.";
      } else if (need === "moves") {
        if (this.robot?.stopped) return "The robot is stopped: release it first.";
      } else if (!this.may(need)) return text.forbidden(this.visitor, need);
    }
    return "";
  }

  update() {
    const { presence, robot } = this, here = presence.lost ? undefined : presence.of(robot);
    for (const r of this.robots) {
      const known = presence.of(r);
      r.gone = presence.lost;
      r.here = Boolean(known);
      r.trouble = known?.trouble ?? [];
      r.used = known?.used ?? false;
      if (known) r.stopped = presence.stopped.has(r.address);
    }
    // Stops that are not known are not shown.
    const stopped = presence.lost ? [] : this.robots.filter((r) => r.stopped);
    const all = text.group(here?.clients ?? []);
    const more = here ? here.count - here.clients.length : 0; // that were too many to be sent
    const other = all.find((c) => c.commander && !c.self), going = other !== undefined && other.commands > 0;
    const keeps = here?.control === "first" && !this.visitor.takes;
    $("who").textContent = text.commander(here, all, presence.lost, keeps);
    $("who").dataset.role = text.role(here, all);
    this.driver.setVain(keeps && going);
    // With "newest" the next command of another client would undo ours.
    const open = other && (!going || (here?.control === "first" && !keeps));
    this.takable = Boolean(open) && !robot?.stopped && this.may("write");
    this.updateTake();
    $("client-count").textContent = here ? `${all.length + more} connected` : "";
    const rows = all.map((client) => row(text.client(client), client.commander));
    $("clients").replaceChildren(...rows, ...(more ? [row([`and ${more} more`])] : []));

    const shown = stopped.some((r) => r === robot);
    $("alert").hidden = !(stopped.length || presence.lost || presence.problem);
    const lost = presence.lost && `${text.unheard(presence.heard)} What you see is old.`;
    $("alert-text").textContent = [presence.problem, lost, text.stopped(stopped)].filter(Boolean).join(" ");
    $("release").hidden = !shown;
    $("release").textContent = `Release ${robot?.name}`;
    $("release-all").hidden = stopped.length < (shown ? 2 : 1);
    $("stop").textContent = robot ? this.halt(robot).text : "Stop";
    $("stop").setAttribute("aria-pressed", String(shown));
    this.disable();
  }

  updateTake() {
    $("take").hidden = !this.takable && !this.driver.keeps;
    $("take").dataset.keeps = String(this.driver.keeps);
    $("take").textContent = this.driver.keeps ? "Give back control" : "Take control";
  }

  disable() {
    this.lost = Boolean(this.robot?.retry);
    for (const { control, title, needs } of this.controls) {
      const why = this.reason(needs);
      control.disabled = why !== "";
      control.title = why || title;
      if (control.id !== "stick") continue;
      control.setAttribute("aria-disabled", String(why !== ""));
      $("why").textContent = why;
      $("why").hidden = why === "";
      this.driver.block(why !== "");
    }
  }
}

/** @type {(texts: string[], commander?: boolean) => HTMLElement} */
function row([name, doing = "", devices = ""], commander = false) {
  const item = document.createElement("li");
  for (const [tag, content] of [["b", name], ["span", doing]]) {
    const part = document.createElement(tag);
    part.textContent = content;
    item.append(part);
  }
  item.title = devices;
  item.dataset.role = commander ? "commander" : "";
  return item;
}
