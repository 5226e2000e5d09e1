// The bar of the simulation: its world, pause, step, speed, and the simulated time.

import { $ } from "./dom.js";
import * as text from "./text.js";

/** @import { World } from "./world.js" */

const STEP = 10; // steps of the simulator, each 10 ms, for a press of the button

/** @param {World} world */
export function bindSimulation(world) {
  $("sim").hidden = false;
  world.addEventListener("scene", () => {
    $("world-name").textContent = world.name.slice(world.name.lastIndexOf("/") + 1);
    $("world-name").title = world.name;
  });
  world.addEventListener("time", () => {
    $("sim-time").textContent = text.simulation(world);
    $("pause").textContent = world.paused ? "Run" : "Pause";
    $("pause").setAttribute("aria-pressed", String(world.paused));
    if (document.activeElement !== $("speed")) showSpeed(world.speed);
  });
  $("pause").addEventListener("click", () => world.send({ pause: !world.paused }));
  $("step").addEventListener("click", () => {
    world.send({ pause: true });
    world.send({ step: STEP });
  });
  $("speed").addEventListener("change", () => world.send({ speed: +$("speed").value }));
}

// showSpeed selects the speed in the list. A speed from a world file is added.
/** @param {number} speed */
function showSpeed(speed) {
  const value = String(speed);
  if (![...$("speed").options].some((o) => o.value === value)) $("speed").add(new Option(`${value}×`, value));
  $("speed").value = value;
}
