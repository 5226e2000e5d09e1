// Rate and age of something that arrives repeatedly, such as a device's data.

const SPAN = 2; // seconds over which rates and ages are averaged

const now = () => performance.now() / 1000;

export class Meter {
  constructor() { this.events = []; }

  // count records an arrival: its age in seconds, and how much it weighs in
  // the rate.
  count(age = 0, weight = 1) {
    this.events.push({ at: now(), age, weight });
    this.trim();
  }

  // trim drops events from before the span, except the last of them: it was the
  // newest one when the span began.
  trim() {
    const first = now() - SPAN;
    while (this.events.length > 1 && this.events[1].at < first) this.events.shift();
  }

  // rate returns the weight per second. It falls when nothing arrives for more
  // than two usual intervals.
  rate() {
    this.trim();
    const { events } = this;
    if (events.length < 2) return 0;
    const sum = events.slice(1).reduce((total, e) => total + e.weight, 0);
    const length = events.at(-1).at - events[0].at, usual = length / (events.length - 1);
    return sum / Math.max(length, now() - events[0].at - 2 * usual);
  }

  // age returns the mean age of information in seconds: the age of the newest
  // data, averaged over the span. It is NaN if nothing has arrived.
  age() {
    this.trim();
    let area = 0, span = 0;
    this.events.forEach((e, i) => {
      const length = (this.events[i + 1]?.at ?? now()) - e.at;
      area += length * (e.age + length / 2);
      span += length;
    });
    return span > 0 ? area / span : NaN;
  }
}
