// The panel that drives: the stick, the limits, the motors, and the state of the driver.

import { $ } from "./dom.js";
import { bindFocus, bindGamepad, bindKeys, bindStick } from "./drive.js";
import * as text from "./text.js";

/** @import { Driver } from "./drive.js" */

/** @param {Driver} driver */
export function bindControls(driver) {
  bindFocus(driver);
  bindKeys(driver);
  bindStick(driver, $("stick"), $("knob"));
  bindGamepad(driver, $("pad-hint"));
  const motors = [{ button: $("motors-on"), on: true }, { button: $("motors-off"), on: false }];
  const update = () => {
    $("drive-state").textContent = text.drive(driver);
    $("drive-state").classList.toggle("live", driver.moving);
    document.documentElement.classList.toggle("aiming", driver.aiming !== "");
    $("drive-state").classList.toggle("bad", driver.note !== "");
    for (const { button, on } of motors) button.setAttribute("aria-pressed", String(driver.robot?.motors === on));
  };
  driver.addEventListener("change", update);
  for (const { button, on } of motors) {
    button.addEventListener("click", () => {
      driver.send({ motors: on });
      if (driver.robot) driver.robot.motors = on;
      update();
    });
  }
  $("reset").addEventListener("click", () => {
    driver.send({ reset: true });
    if (driver.robot) driver.robot.trail = [];
  });
  const sliders = [
    { slider: $("max-speed"), out: $("max-speed-out"), limit: "speed", unit: "mm/s" },
    { slider: $("max-turn"), out: $("max-turn-out"), limit: "turn", unit: "°/s" },
  ];
  for (const { slider, out, limit, unit } of sliders) {
    const apply = () => {
      driver.limits[limit] = Number(slider.value);
      out.textContent = `${slider.value} ${unit}`;
    };
    slider.addEventListener("input", apply);
    apply();
  }
  update();
}
