// Who drives the robot that is shown, who else is connected, what is stopped, and
// which controls are disabled for which reason.

import * as text from "./text.js";

const $ = (id) => document.getElementById(id);

export class People {
  // visitor is the address of this computer and its rights; robots are all that are
  // listed.
  constructor(driver, presence, robots) {
    Object.assign(this, { driver, presence, robots, visitor: { you: "", may: "", takes: false } });
    this.controls = [...document.querySelectorAll("[data-needs]")].map((control) => ({ control, title: control.title, needs: control.dataset.needs.split(" ") }));
    presence.addEventListener("change", () => this.update());
    driver.addEventListener("stop", () => this.stop([this.robot]));
    $("stop").addEventListener("click", () => this.stop([this.robot]));
    $("stop-all").addEventListener("click", () => this.stop(this.robots));
    $("release").addEventListener("click", () => presence.stop([this.robot], false));
    $("release-all").addEventListener("click", () => presence.stop(robots.filter((robot) => robot.stopped), false));
    $("take").addEventListener("click", () => (driver.keeps ? driver.halt() : driver.take()));
    driver.addEventListener("change", () => this.updateTake());
  }

  show(robot) {
    this.robot = robot;
    this.update();
  }

  may(right) { return this.visitor.may.includes(right); }

  stop(robots) {
    this.driver.halt();
    if (this.may("write")) this.presence.stop(robots.filter(Boolean));
  }

  // reason returns why a control is disabled; empty: it is not.
  reason(needs) {
    if (this.presence.lost) return text.unheard(this.presence.heard);
    for (const need of needs) {
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
      const told = presence.of(r);
      Object.assign(r, { gone: presence.lost, here: Boolean(told), trouble: told?.trouble ?? [], used: told?.used ?? false });
      if (told) r.stopped = presence.stopped.has(r.address);
    }
    // What is not known is not shown.
    const stopped = presence.lost ? [] : this.robots.filter((r) => r.stopped), all = text.group(here?.clients ?? []);
    const more = here ? here.count - here.clients.length : 0; // that were too many to be told
    const other = all.find((c) => c.commander && !c.self), keeps = here?.control === "first" && !this.visitor.takes;
    $("who").textContent = text.commander(here, all, presence.lost, keeps);
    this.driver.setVain(keeps && other?.commands > 0);
    // With "newest" the next command of who goes on commanding would undo ours.
    this.takable = Boolean(other) && (other.commands === 0 || (here.control === "first" && !keeps)) && !robot.stopped && this.may("write");
    this.updateTake();
    $("client-count").textContent = here ? all.length + more : "";
    $("clients").replaceChildren(...all.map((client) => row(...text.client(client), client.commander)), ...(more ? [row(`and ${more} more`)] : []));

    const shown = stopped.includes(robot);
    $("alert").hidden = !(stopped.length || presence.lost || presence.problem);
    $("alert-text").textContent = [presence.problem, presence.lost && `${text.unheard(presence.heard)} What you see is old.`, text.stopped(stopped)].filter(Boolean).join(" ");
    $("release").hidden = !shown;
    $("release").textContent = `Release ${robot?.name}`;
    $("release-all").hidden = stopped.length < (shown ? 2 : 1);
    $("stop").textContent = shown ? "Stopped" : presence.asking.has(robot) ? "Stopping" : "Stop";
    $("stop").setAttribute("aria-pressed", shown);
    this.disable();
  }

  updateTake() {
    $("take").hidden = !this.takable && !this.driver.keeps;
    $("take").textContent = this.driver.keeps ? "Give back control" : "Take control";
  }

  disable() {
    for (const { control, title, needs } of this.controls) {
      const why = this.reason(needs);
      control.disabled = why !== "";
      control.title = why || title;
      if (control.id !== "stick") continue;
      control.setAttribute("aria-disabled", why !== "");
      $("why").textContent = why;
      $("why").hidden = why === "";
      this.driver.block(why !== "");
    }
  }
}

function row(name, doing = "", devices = "", commander = false) {
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
