// The battery of a robot and the age of its data in the last minutes, as lines.

export const SAMPLES = 60; // kept for a robot, however long the page is open
export const PERIOD = 10_000; // ms of a sample: ten minutes in all
export const WIDTH = 60, HEIGHT = 14; // of a line

// History keeps the worst value of each period.
export class History {
  // worse(a, b) returns the worse of two values. least is the least span of values that is
  // shown in the whole height, so that noise looks like noise.
  constructor(worse, least) {
    this.worse = worse;
    this.least = least;
    this.values = []; // the oldest first; null: unknown
    this.began = -Infinity; // of the last one, ms
  }

  // add adds a value, or null. It reports whether the line has changed.
  add(value, now) {
    const { values } = this, last = values.length - 1;
    const periods = Math.floor((now - this.began) / PERIOD);
    if (periods > 0) {
      if (last >= 0) values.push(...Array(Math.min(periods - 1, SAMPLES)).fill(null)); // the page was hidden
      this.began = last >= 0 ? this.began + periods * PERIOD : now;
      values.push(value);
      values.splice(0, values.length - SAMPLES);
      return true;
    }
    const worst = value === null ? values[last] : values[last] === null ? value : this.worse(values[last], value);
    if (worst === values[last]) return false;
    values[last] = worst;
    return true;
  }

  range() {
    const known = this.values.filter((v) => v !== null);
    return known.length > 0 ? [Math.min(...known), Math.max(...known)] : null;
  }

  // line returns the path of the line, the newest value at the right.
  line() {
    const range = this.range();
    if (!range) return "";
    const middle = (range[0] + range[1]) / 2, span = Math.max(this.least, range[1] - range[0]), step = WIDTH / (SAMPLES - 1);
    let path = "", pen = "M";
    this.values.forEach((v, i) => {
      if (v === null) return void (pen = "M");
      const x = WIDTH - (this.values.length - 1 - i) * step, y = HEIGHT / 2 - ((v - middle) / span) * (HEIGHT - 2);
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}${pen === "M" ? "h0" : ""}`; // a value that is alone is a dot
      pen = "L";
    });
    return path;
  }
}
