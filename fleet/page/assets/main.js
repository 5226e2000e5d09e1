// The page of a fleet: its robots in a list and on a map, those in trouble first. The
// bridge sends what is known of all robots at most twice a second (page.go).

const RETRY = 1000; // ms between two attempts to connect
const MANY = 25; // robots from which on the map has the names of those in trouble only
const SILENCE = 3000; // ms without a message after which the bridge counts as hung: two come a second
const RANKS = { stopped: 0, trouble: 1, driven: 2, well: 3 };
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

const robots = new Map(); // by name: what is known, and the elements that show it
let sorted = [];

const age = (ms) => (ms === null ? "" : ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// linked makes an element that opens the robot's own page, or one that does nothing if
// there is no page.
function linked(known, make) {
  const element = make(known.page ? "a" : known.plain);
  if (known.page) {
    element.setAttribute("href", known.page);
    element.setAttribute("target", "_blank");
    element.setAttribute("rel", "noopener noreferrer");
  }
  return element;
}

function addItem(known) {
  const item = document.createElement("li"), body = linked({ page: known.page, plain: "div" }, (tag) => document.createElement(tag));
  const parts = {};
  for (const [name, tag] of [["name", "b"], ["volts", "span"], ["age", "span"], ["text", "span"]]) {
    parts[name] = body.appendChild(document.createElement(tag));
    parts[name].className = name;
  }
  parts.name.textContent = known.name;
  parts.volts.title = "battery";
  parts.age.title = "age of the odometry";
  parts.button = document.createElement("button");
  parts.button.type = "button";
  parts.button.addEventListener("click", () => press(known.state === "stopped" ? "release" : "stop", known.name));
  item.append(body, parts.button);
  return { item, parts };
}

function addMark(known) {
  const mark = linked({ page: known.page, plain: "g" }, (tag) => document.createElementNS(SVG, tag));
  mark.setAttribute("tabindex", "-1"); // the list has the same link
  const [title, body, label] = ["title", "path", "text"].map((tag) => mark.appendChild(document.createElementNS(SVG, tag)));
  body.setAttribute("d", "M.6 0L-.4 .4L-.2 0L-.4-.4Z");
  $("plan").append(mark);
  return { mark, title, body, label };
}

// show shows one robot in the list.
function show(known) {
  known.list ??= addItem(known);
  const { item, parts } = known.list;
  item.dataset.state = known.state;
  set(parts.text, known.text);
  set(parts.button, known.state === "stopped" ? "Release" : "Stop");
  parts.button.className = known.state === "stopped" ? "" : "stop";
  parts.button.setAttribute("aria-label", `${parts.button.textContent} ${known.name}`);
  set(parts.volts, known.volts === null ? "" : `${known.volts.toFixed(1)} V`);
  set(parts.age, age(known.age_ms));
}

// showMap draws all robots whose place is known. A robot is at least 4 % of the map.
function showMap() {
  const placed = [...robots.values()].filter((r) => r.place);
  $("map").hidden = placed.length === 0;
  $("main").classList.toggle("mapped", placed.length > 0);
  if (placed.length === 0) return;
  const xs = placed.map((r) => r.place.x), ys = placed.map((r) => -r.place.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const size = Math.max(0.5, Math.max(right - left, bottom - top) / 25), edge = 1.2 * size;
  $("plan").setAttribute("viewBox", [left - edge, top - edge, right - left + 2 * edge, bottom - top + 2 * edge].map((v) => v.toFixed(2)).join(" "));
  for (const known of placed) {
    known.map ??= addMark(known);
    const { mark, title, body, label } = known.map, { x, y, heading } = known.place;
    mark.dataset.state = known.state;
    mark.classList.toggle("faded", !matches(known));
    body.setAttribute("transform", `translate(${x.toFixed(3)} ${(-y).toFixed(3)}) rotate(${-heading}) scale(${size.toFixed(3)})`);
    label.setAttribute("x", x.toFixed(3));
    label.setAttribute("y", (-y + 1.3 * size).toFixed(3));
    label.setAttribute("font-size", (0.75 * size).toFixed(3));
    set(title, known.text ? `${known.name}: ${known.text}` : known.name);
    set(label, placed.length < MANY || RANKS[known.state] < RANKS.driven ? known.name : "");
  }
}

const matches = (known) => `${known.name} ${known.state} ${known.text}`.toLowerCase().includes($("search").value.trim().toLowerCase());

function search() {
  let found = 0;
  for (const known of robots.values()) {
    known.list.item.hidden = !matches(known);
    known.map?.mark.classList.toggle("faded", !matches(known));
    found += !known.list.item.hidden;
  }
  $("empty").hidden = found > 0;
  return found;
}

// sort puts robots in trouble first, unless somebody is about to click in the list.
function sort() {
  const list = $("robots"), focus = document.activeElement;
  const order = [...robots.values()].sort((a, b) => RANKS[a.state] - RANKS[b.state] || a.name.localeCompare(b.name, "en", { numeric: true }));
  if (list.matches(":hover") || order.every((r, i) => r === sorted[i]) && order.length === sorted.length) return;
  sorted = order;
  list.append(...order.map((r) => r.list.item));
  if (list.contains(focus)) focus.focus({ preventScroll: true });
}

function update({ fleet, connected, robots: rows }) {
  set($("name"), `Fleet ${fleet}`);
  document.title = `Fleet ${fleet}`;
  const names = new Set(rows.map((r) => r.name));
  for (const [name, known] of robots) {
    if (names.has(name)) continue;
    known.list.item.remove();
    known.map?.mark.remove();
    robots.delete(name);
  }
  for (const row of rows) {
    const known = robots.get(row.name) ?? {};
    robots.set(row.name, Object.assign(known, row));
    show(known);
  }
  const found = search(), count = (state) => rows.filter((r) => r.state === state).length;
  showMap();
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
// nobody looks at.
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
    update(JSON.parse(data));
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
$("search").addEventListener("input", search);
document.addEventListener("visibilitychange", watch);
watch();
