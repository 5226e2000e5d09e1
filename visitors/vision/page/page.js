// The newest picture with the blobs on it, and the colours. A click names the picture that it
// was made in: a newer one may show another thing there.

const RETRY = 1000; // ms until the program is asked again that did not answer
const LIMIT = 15000; // ms until a request has failed: the program waits 10 s for a picture
const CLICK = 1 / 100; // of the width of a picture: how far around a click the colour is taken

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const canvas = /** @type {HTMLCanvasElement} */ (byId("picture"));
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
const rows = byId("colors");
const undo = /** @type {HTMLButtonElement} */ (byId("undo"));
const save = /** @type {HTMLButtonElement} */ (byId("save"));

/** @type {any} the last message of the program */
let told = { number: 0, blobs: [], colors: [], problem: "" };
/** @type {any} the content of the canvas: a picture and the blobs in it */
let shown = null;
/** @type {{from: {x: number, y: number}, to: {x: number, y: number}} | null} */
let drag = null;
/** @type {{x: number, y: number} | null} */
let cross = null; // moved by keys
let chosen = ""; // channel of the colour that clicks widen; empty: they make a new one

/** @param {string} text */
function say(text, bad = false) {
  byId("says").textContent = text;
  byId("says").className = bad ? "bad" : "";
}

// ask sends a change, and reports whether it was made.
/** @param {string} path @param {Record<string, any>} parameters */
async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  const reply = await fetch(`${path}?${query}`, { method: "POST", signal: AbortSignal.timeout(LIMIT) }).catch(() => null);
  if (!reply?.ok) {
    say(reply ? (await reply.text()).trim() : "vision does not answer.", true);
    return null;
  }
  say("");
  return reply;
}

// middle returns the colour in the middle of ranges, for people.
function middle({ hue, saturation, value }) {
  const h = hue[0] + ((hue[1] - hue[0] + 360) % 360) / 2;
  const s = (saturation[0] + saturation[1]) / 200, v = (value[0] + value[1]) / 200, l = v * (1 - s / 2);
  return `hsl(${h} ${l > 0 && l < 1 ? (100 * (v - l)) / Math.min(l, 1 - l) : 0}% ${100 * l}%)`;
}

function draw() {
  if (!shown) return;
  const { bitmap, seen } = shown;
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  pen.drawImage(bitmap, 0, 0);
  const line = Math.max(1, Math.round(bitmap.width / 320));
  pen.font = `${10 * line}px system-ui, sans-serif`;
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  const frame = (x, y, w, h) => { // on the outermost pixels of the rectangle, not between two
    pen.lineWidth = 3 * line;
    pen.strokeStyle = "#000";
    pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    pen.lineWidth = line;
    pen.strokeStyle = "#fff";
    pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  };
  for (const { channel, left, top, right, bottom } of seen.blobs) {
    frame(left, top, right - left + 1, bottom - top + 1);
    const name = seen.colors.find((c) => c.channel === channel)?.name ?? `channel ${channel}`;
    pen.lineWidth = 3 * line;
    pen.strokeStyle = "#000";
    pen.strokeText(name, left, Math.max(10 * line, top - 3 * line));
    pen.fillStyle = "#fff";
    pen.fillText(name, left, Math.max(10 * line, top - 3 * line));
  }
  const mark = drag ?? (cross && { from: cross, to: cross });
  if (mark) {
    const { left, top, right, bottom } = part(mark.from, mark.to);
    frame(left, top, right - left + 1, bottom - top + 1);
  }
}

// part returns the pixels from one corner to another, and those around a click.
/** @type {(a: {x: number, y: number}, b: {x: number, y: number}) => {left: number, top: number, right: number, bottom: number}} */
function part(a, b) {
  const around = Math.max(2, Math.round(canvas.width * CLICK));
  const more = Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) <= around ? around : 0;
  return {
    left: Math.max(0, Math.min(a.x, b.x) - more), right: Math.min(canvas.width - 1, Math.max(a.x, b.x) + more),
    top: Math.max(0, Math.min(a.y, b.y) - more), bottom: Math.min(canvas.height - 1, Math.max(a.y, b.y) + more),
  };
}

// take takes the colour between two places of the picture that is shown.
/** @type {(a: {x: number, y: number}, b: {x: number, y: number}) => Promise<void>} */
async function take(a, b) {
  const at = { picture: shown.seen.number, ...part(a, b) };
  const reply = await ask("take", chosen === "" ? at : { ...at, channel: chosen });
  if (reply) chosen = String((await reply.json()).channel);
}

// row returns the row of a colour.
/** @param {number} channel */
function row(channel) {
  const li = document.createElement("li");
  li.dataset.channel = String(channel);
  li.innerHTML = `<label><input type="radio" name="into"> ${channel}</label><span class="swatch"></span>
    <input maxlength="32" aria-label="Name of channel ${channel}"><button>Delete</button>`;
  const name = /** @type {HTMLInputElement} */ (li.querySelector("input[maxlength]"));
  const radio = /** @type {HTMLInputElement} */ (li.querySelector("input[type=radio]"));
  radio.value = String(channel);
  name.onchange = () => ask("name", { channel, name: name.value.trim() });
  const remove = /** @type {HTMLButtonElement} */ (li.querySelector("button"));
  remove.ariaLabel = `Delete channel ${channel}`;
  remove.onclick = () => ask("delete", { channel });
  return li;
}

// list shows the colours. Rows stay, so that the one that is typed into is not lost.
function list() {
  const present = new Map([...rows.querySelectorAll("li[data-channel]")].map((li) => [Number(/** @type {HTMLElement} */ (li).dataset.channel), li]));
  for (const color of told.colors) {
    const li = present.get(color.channel) ?? rows.insertBefore(row(color.channel), rows.lastElementChild);
    present.delete(color.channel);
    /** @type {HTMLElement} */ (li.querySelector(".swatch")).style.background = middle(color);
    const name = /** @type {HTMLInputElement} */ (li.querySelector("input[maxlength]"));
    if (name !== document.activeElement) name.value = color.name;
    const text = `hue ${color.hue.join(" to ")}, saturation from ${color.saturation[0]} %, value from ${color.value[0]} %`;
    /** @type {HTMLElement} */ (li).title = text;
  }
  for (const [channel, li] of present) {
    if (chosen === String(channel)) chosen = "";
    li.remove();
  }
  for (const radio of rows.querySelectorAll("input[type=radio]")) {
    /** @type {HTMLInputElement} */ (radio).checked = /** @type {HTMLInputElement} */ (radio).value === chosen;
  }
  undo.disabled = !told.undo;
  save.disabled = !told.unsaved;
  byId("file").textContent = told.unsaved ? `${told.file} has other colours` : told.file;
}

// next shows the next picture, unless the user is about to take a part of this one.
async function next() {
  const reply = await fetch(`seen?last=${told.number}`, { signal: AbortSignal.timeout(LIMIT) });
  const seen = await reply.json();
  if (seen.number && seen.number !== told.number) {
    const picture = await fetch(`picture?picture=${seen.number}`, { signal: AbortSignal.timeout(LIMIT) });
    const bitmap = picture.ok && await createImageBitmap(await picture.blob());
    if (bitmap && drag) bitmap.close();
    else if (bitmap) {
      shown?.bitmap.close();
      shown = { bitmap, seen };
    }
  }
  if (told.problem && !seen.problem) say("");
  told = seen;
  list();
  draw();
  if (!seen.problem) return;
  say(seen.problem, true);
  await new Promise((resolve) => setTimeout(resolve, RETRY));
}

/** @param {PointerEvent} event */
function place(event) {
  const box = canvas.getBoundingClientRect();
  const along = (at, size, pixels) => Math.max(0, Math.min(pixels - 1, Math.floor((at / size) * pixels)));
  return { x: along(event.clientX - box.left, box.width, canvas.width), y: along(event.clientY - box.top, box.height, canvas.height) };
}

canvas.onpointerdown = (event) => {
  if (!shown || event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  cross = null;
  drag = { from: place(event), to: place(event) };
  draw();
};
canvas.onpointermove = (event) => {
  if (!drag) return;
  drag.to = place(event);
  draw();
};
canvas.onpointerup = () => {
  if (drag) take(drag.from, drag.to);
  drag = null;
};
canvas.onpointercancel = () => { drag = null; };
canvas.onkeydown = (event) => {
  const step = Math.max(1, Math.round(canvas.width / 64));
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  if (!shown || !by && event.key !== "Enter") return;
  event.preventDefault();
  cross ??= { x: canvas.width >> 1, y: canvas.height >> 1 };
  if (by) cross = { x: Math.max(0, Math.min(canvas.width - 1, cross.x + by[0])), y: Math.max(0, Math.min(canvas.height - 1, cross.y + by[1])) };
  else take(cross, cross);
  draw();
};
canvas.onblur = () => { cross = null; };
rows.onchange = (event) => {
  const radio = /** @type {HTMLInputElement} */ (event.target);
  if (radio.type === "radio") chosen = radio.value;
};
undo.onclick = () => ask("undo");
save.onclick = async () => { if (await ask("save")) say("Saved."); };

async function run() {
  for (;;) {
    try {
      if (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
      else await next();
    } catch {
      told.problem = "no answer";
      say("vision does not answer: it runs while a program or the dashboard uses it.", true);
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }
}

run();
