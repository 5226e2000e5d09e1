// The server's log, in a drawer. It is asked for while the drawer is open.

/** @import { LogLine, LogReply } from "../types" */

const PERIOD = 1000; // ms between two requests
const LIMIT = 10000; // ms until a request that is not answered has failed
const LINES = 500; // that are shown at most, as many as the server keeps

export class Log {
  /** @param {HTMLElement} list */
  constructor(list) {
    this.list = list;
    this.last = 0; // the number of the newest line that is shown
    this.open = false;
    this.asking = false;
    /** @type {HTMLElement | null} */
    this.problem = null; // the line that says why there are no new ones
    setInterval(() => this.open && !document.hidden && this.ask(), PERIOD);
  }

  // show opens the drawer, or closes it.
  show(open) {
    this.open = open;
    if (open) return this.ask();
  }

  async ask() {
    if (this.asking) return;
    this.asking = true;
    try {
      const reply = await fetch(`log?after=${this.last}`, { signal: AbortSignal.timeout(LIMIT) });
      this.take(reply.ok ? await reply.json() : { problem: await reply.text() });
    } catch {
      this.take({ problem: "The server does not answer." });
    }
    this.asking = false;
  }

  // take shows new lines. Whatever they contain is text.
  /** @param {Partial<LogReply> & { problem?: string }} reply */
  take({ last = this.last, lines = [], problem = "" }) {
    const { list } = this, bottom = list.scrollHeight - list.scrollTop - list.clientHeight < 8;
    this.problem?.remove();
    if (last < this.last) list.replaceChildren(); // another server
    this.last = last;
    list.append(...lines.map(row));
    if (problem) list.append((this.problem = row({ level: "error", msg: problem })));
    while (list.children.length > LINES) list.firstElementChild?.remove();
    if (bottom) list.scrollTop = list.scrollHeight;
  }
}

/** @param {LogLine} line */
function row({ level, ts, msg, ...fields }) {
  const item = document.createElement("li");
  item.dataset.level = level;
  const written = (value) => (typeof value === "object" ? JSON.stringify(value) : value);
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${written(value)}`);
  for (const part of [ts?.slice(11, 19) ?? "", level, msg, rest.join("  ")]) {
    const span = document.createElement("span");
    span.textContent = part;
    item.append(span);
  }
  return item;
}
