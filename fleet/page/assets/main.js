// The page of a fleet: its robots in a list and on maps, those in trouble first. The bridge
// sends all facts of all robots twice a second, and in between the robots that have moved
// (page.go). Changes are shown in the next animation frame.

import { History, HEIGHT, WIDTH } from "./history.js";
import { FleetMap } from "./map.js";

const RETRY = 1000; // ms between two attempts to connect
const SILENCE = 3000; // ms without a message after which the bridge counts as hung: two come a second
const RANKS = { stopped: 0, trouble: 1, driven: 2, well: 3 };
const SVG = "http://www.w3.org/2000/svg";
const GAP = 8; // between the lines of the battery and of the age
/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const names = new Intl.Collator("en", { numeric: true });

const robots = new Map(); // by name: the facts, and the element that shows them
const map = new FleetMap($("plan"), $("here"));
let message = null; // the newest one with all robots, until it is shown
let pending = 0; // the animation frame that shows it
let sorted = [];
let chosen = null; // the floor plan that the user has chosen

const age = (ms) => (ms === null ? "" : ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Rows that are not seen have their text, and get the newest numbers when they are.
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const known = robots.get(/** @type {HTMLElement} */ (target).dataset.name);
    if (!known) continue;
    known.seen = isIntersecting;
    if (isIntersecting) showNumbers(known);
  }
}, { root: $("robots"), rootMargin: "200px" });

// address returns the URL of a web page, or "".
function address(page) {
  try {
    const url = new URL(page);
    return ["http:", "https:"].includes(url.protocol) ? url.href : "";
  } catch {
    return "";
  }
}

function addItem(known) {
  const item = document.createElement("li"), body = document.createElement(known.page ? "a" : "div");
  item.dataset.name = known.name;
  if (known.page) Object.assign(body, { href: known.page, target: "_blank", rel: "noopener noreferrer" });
  const parts = {};
  for (const [name, tag] of [["name", "b"], ["volts", "span"], ["age", "span"], ["text", "span"]]) {
    parts[name] = body.appendChild(document.createElement(tag));
    parts[name].className = name;
  }
  parts.name.textContent = known.name;
  const lines = body.appendChild(document.createElementNS(SVG, "svg"));
  lines.setAttribute("class", "lines");
  lines.setAttribute("aria-hidden", "true"); // the titles of the numbers say it
  lines.setAttribute("viewBox", `0 0 ${2 * WIDTH + GAP} ${HEIGHT}`);
  for (const [name, x] of [["voltsLine", 0], ["ageLine", WIDTH + GAP]]) {
    parts[name] = lines.appendChild(document.createElementNS(SVG, "path"));
    parts[name].setAttribute("transform", `translate(${x} 0)`);
  }
  parts.button = document.createElement("button");
  parts.button.type = "button";
  parts.button.addEventListener("click", () => press(known.state === "stopped" ? "release" : "stop", known.name));
  item.append(body, parts.button);
  return { item, parts, page: known.page };
}

// show shows the state of a robot in the list.
function show(known) {
  if (known.list && known.list.page !== known.page) removeItem(known);
  const added = !known.list;
  if (added) {
    known.list = addItem(known);
    watcher.observe(known.list.item);
  }
  const { item, parts } = known.list;
  if (item.dataset.state !== known.state) {
    item.dataset.state = known.state;
    const verb = known.state === "stopped" ? "Release" : "Stop";
    parts.button.textContent = verb;
    parts.button.className = known.state === "stopped" ? "" : "stop";
    parts.button.setAttribute("aria-label", `${verb} ${known.name}`);
  }
  set(parts.text, known.text);
  const devices = known.devices ? `Devices: ${known.devices}` : "";
  if (parts.name.title !== devices) parts.name.title = devices;
  if (added || known.seen || !parts.age.textContent !== (known.age_ms === null)) showNumbers(known);
}

function removeItem(known) {
  watcher.unobserve(known.list.item);
  known.list.item.remove();
  known.list = undefined;
  sorted = []; // the list is sorted anew
}

function showNumbers({ list: { parts }, volts, age_ms, history }) {
  set(parts.volts, volts === null ? "" : `${volts.toFixed(1)} V`);
  set(parts.age, age(age_ms));
  if (!history.changed) return;
  history.changed = false;
  for (const [name, what, digits] of [["volts", "battery in V", 1], ["age", "age of the odometry in s", 1]]) {
    const range = history[name].range();
    parts[name].title = range ? `${what}, ten minutes: ${range[0].toFixed(digits)} to ${range[1].toFixed(digits)}` : what;
    parts[`${name}Line`].setAttribute("d", history[name].line());
  }
}

// remember adds to the lines of a robot.
function remember(known, now) {
  known.history ??= { volts: new History(Math.min, 1), age: new History(Math.max, 1), changed: true };
  const { history } = known;
  const changed = [history.volts.add(known.volts, now), history.age.add(known.age_ms === null ? null : known.age_ms / 1000, now)];
  history.changed ||= changed.includes(true);
}

// showMaps offers a map for each floor plan that robots have, and one for those without, and
// shows the one that was chosen, or has most robots.
function showMaps() {
  const maps = new Map();
  for (const robot of robots.values()) {
    if (!robot.place) continue;
    const plan = robot.plan ?? "";
    if (!maps.has(plan)) maps.set(plan, []);
    maps.get(plan).push(robot);
  }
  $("map").hidden = maps.size === 0;
  $("main").classList.toggle("mapped", maps.size > 0);
  const all = [...maps].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const options = all.map(([plan, group]) => {
    const others = group.length > 1 ? ` and ${group.length - 1} more` : "";
    return [plan, `${plan ? "floor" : "no floor plan"}: ${group[0].name}${others}`];
  });
  const choice = $("floor"), label = JSON.stringify(options);
  choice.hidden = options.length < 2;
  if (choice.dataset.options !== label) {
    choice.dataset.options = label;
    choice.replaceChildren(...options.map(([plan, text]) => new Option(text, plan)));
  }
  if (all.length === 0) return map.show([], "");
  const shown = maps.has(chosen) ? chosen : all[0][0];
  choice.value = shown;
  map.show(maps.get(shown), shown);
  $("plan").setAttribute("aria-label", `Map of ${maps.get(shown).length} robots, which the list has, too. Plus and minus zoom, arrows move, 0 shows all.`);
}

// search shows robots that match, and returns how many.
function search() {
  const text = $("search").value.trim().toLowerCase();
  let found = 0;
  for (const known of robots.values()) {
    const matches = text === "" || `${known.name} ${known.state} ${known.text} ${known.devices ?? ""}`.toLowerCase().includes(text);
    if (known.list.item.hidden === matches) known.list.item.hidden = !matches;
    known.faded = !matches;
    if (matches) found++;
  }
  $("empty").hidden = found > 0;
  return found;
}

// sort puts robots in trouble first, unless the user is about to click in the list.
function sort() {
  const list = $("robots"), focus = /** @type {HTMLElement | null} */ (document.activeElement);
  if (list.matches(":hover") && sorted.length > 0) return;
  const order = [...robots.values()].sort((a, b) => RANKS[a.state] - RANKS[b.state] || names.compare(a.name, b.name));
  if (order.length === sorted.length && order.every((r, i) => r === sorted[i])) return;
  sorted = order;
  list.append(...order.map((r) => r.list.item));
  if (list.contains(focus)) focus?.focus({ preventScroll: true });
}

// take takes a message: with all robots, or with those that have moved.
function take(m) {
  if (m.robots) {
    message = m;
    pending ||= requestAnimationFrame(update);
    return;
  }
  let shown = false;
  for (const [name, place] of Object.entries(m.moved)) {
    const known = robots.get(name);
    if (known?.place) known.place = place, (shown = true);
  }
  if (shown) map.moved();
}

// update shows the newest message with all robots.
function update() {
  pending = 0;
  const { fleet, connected, robots: rows } = message, now = performance.now();
  set($("name"), `Fleet ${fleet}`);
  document.title = `Fleet ${fleet}`;
  const current = new Set(rows.map((r) => r.name));
  for (const [name, known] of robots) {
    if (current.has(name)) continue;
    if (known.list) removeItem(known);
    robots.delete(name);
  }
  for (const row of rows) {
    const known = robots.get(row.name) ?? {};
    robots.set(row.name, Object.assign(known, { driver: "", plan: "" }, row, { page: address(row.page) }));
    remember(known, now);
    show(known);
  }
  const found = search(), count = (state) => rows.filter((r) => r.state === state).length;
  showMaps();
  sort();
  const shown = found < rows.length ? `${found} of ` : "";
  set($("summary"), connected ? `${shown}${rows.length} robots · ${count("stopped")} stopped · ${count("trouble")} in trouble · ${count("driven")} driven` : "The bridge is cut off from NATS.");
  $("summary").classList.toggle("bad", !connected || count("stopped") + count("trouble") > 0);
}

function alarm(text) {
  set($("summary"), text);
  $("summary").classList.add("bad");
}

// press stops or releases a robot; without a name all. Its state shows the success.
async function press(verb, name) {
  try {
    const answer = await fetch(name ? `${verb}?robot=${encodeURIComponent(name)}` : verb, { method: "POST" });
    if (!answer.ok) alert(`${verb}: ${await answer.text()}`);
  } catch {
    alert(`${verb}: the bridge cannot be reached`);
  }
}

// watch shows the fleet while the page is visible: nothing is read for a page that
// that is hidden.
let socket = null, heard = 0;
function watch() {
  if (document.hidden) {
    socket?.close();
    return;
  }
  if (socket) return;
  socket = new WebSocket(new URL("robots", location.href.replace(/^http/, "ws")));
  heard = Date.now();
  socket.onmessage = ({ data }) => {
    heard = Date.now();
    take(JSON.parse(data));
  };
  socket.onclose = () => {
    socket = null;
    if (document.hidden) return;
    alarm("The bridge cannot be reached: this is old.");
    setTimeout(watch, RETRY);
  };
}

setInterval(() => {
  if (socket && Date.now() - heard > SILENCE) alarm("The bridge has sent nothing for 3 s: this is old.");
}, SILENCE / 3);
for (const verb of ["stop", "release"]) $(verb).addEventListener("click", () => press(verb));
$("search").addEventListener("input", () => {
  search();
  map.moved();
});
$("floor").addEventListener("change", () => {
  chosen = $("floor").value;
  showMaps();
});
document.addEventListener("visibilitychange", watch);
watch();

globalThis.fleet = { robots, map }; // for tests, and the curious
