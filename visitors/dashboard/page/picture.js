// The newest picture of a camera, fetched again and again while it is seen: one
// request at a time, so a slow link has fewer pictures and none that are old.

const RETRY = 1000; // ms after a failure; the server starts a camera again by itself
const LIMIT = 15000; // ms until a request that is not answered has failed: the server's limit is 10 s

export class Picture extends EventTarget {
  /** @param {Element} place what the picture is seen in */
  constructor(place) {
    super();
    this.camera = ""; // its name; empty: none
    /** @type {ImageBitmap | null} */
    this.bitmap = null;
    /** @type {Blob | null} */
    this.file = null; // the JPEG of bitmap
    this.problem = ""; // why there is no newer one
    this.takenAt = 0; // when the server had it whole, on the clock of performance.now()
    this.number = 0; // of the newest; the server counts
    /** @type {number[] | null} */
    this.view = null; // of lensOf; null: how much the camera sees is not known
    this.seen = false;
    this.requests = new AbortController(); // of this camera
    this.running = false; // requests are made
    new IntersectionObserver((changes) => {
      this.seen = changes[changes.length - 1].isIntersecting;
      this.run();
    }).observe(place);
    document.addEventListener("visibilitychange", () => this.run());
  }

  /** @param {string} camera */
  show(camera) {
    if (camera === this.camera) return;
    this.camera = camera;
    this.bitmap?.close();
    this.bitmap = this.file = this.view = null;
    this.number = 0;
    this.problem = "";
    this.requests.abort();
    this.requests = new AbortController();
    this.running = false;
    this.run();
  }

  // age returns how old the picture is, in s.
  age() { return (performance.now() - this.takenAt) / 1000; }

  async run() {
    if (this.running) return;
    this.running = true;
    const { camera, requests: { signal } } = this;
    while (camera && this.seen && !document.hidden) {
      const problem = await this.next(camera, signal).catch(() => "The server does not answer.");
      if (signal.aborted) return;
      this.problem = problem;
      this.dispatchEvent(new Event("change"));
      if (!problem) continue;
      this.number = 0; // a server that was started again begins with 1
      await new Promise((resolve) => setTimeout(resolve, RETRY));
      if (signal.aborted) return;
    }
    this.running = false;
  }

  // next fetches one picture, and returns why there is none.
  /** @type {(camera: string, signal: AbortSignal) => Promise<string>} */
  async next(camera, signal) {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT)]);
    const reply = await fetch(`camera/${encodeURIComponent(camera)}/picture?after=${this.number}`, { signal: limited });
    if (!reply.ok) return reply.text();
    const age = Number(reply.headers.get("Picture-Age")), number = Number(reply.headers.get("Picture-Number"));
    const view = reply.headers.get("Picture-View")?.split(" ").map(Number) ?? null;
    const takenAt = performance.now() - age, file = await reply.blob();
    const bitmap = await createImageBitmap(file).catch(() => null);
    if (!bitmap) return `Camera ${camera} sends what this browser cannot show.`;
    if (signal.aborted) return "";
    this.bitmap?.close();
    Object.assign(this, { bitmap, file, takenAt, number, view });
    return "";
  }
}
