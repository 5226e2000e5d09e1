// Types that several modules of the page share: the server's messages, each defined by
// the Go file that is named, and the results of wire.js for the binary ones. Only the type
// check reads this file: browsers do not get it.

// The server's JSON messages. Lengths are metres, angles radians.

/** GET /robots (dashboard.go). */
export interface Offer extends Visitor {
  robots: RobotOptions[];
  world: boolean;
  version: string; // of the program
}

export interface Visitor {
  you: string; // the address of the browser
  may: string; // its rights
  takes: boolean; // commands of pages take control from a client that keeps it
}

export interface RobotOptions {
  name: string;
  address: string;
  mover?: number; // index in Scene.movers; -1: not simulated
  typed?: boolean; // the user added it; the server never says this
  run?: boolean; // it is replayed or recorded
  cameras?: string[]; // names of those on it
  pages?: { letter: string; name: string; url: string }[]; // of its plugins; ":PORT/..." is of the host of this page
  newest?: string; // its newest data, a message of a stream in base64: index.html has it
}

/** The presence socket (presence.go). */
export interface PresenceMessage {
  stopped: string[]; // addresses
  robots: RobotPresence[]; // those that changed
}

export interface RobotPresence {
  address: string;
  control: "newest" | "first";
  trouble: string[];
  used: boolean;
  clients: Client[];
  count: number; // of all clients
}

export interface Client {
  address: string;
  name: string;
  devices: Record<string, "r" | "w" | "a">;
  commander: boolean;
  commands: number; // a second
  frames: number; // a second
  paced: boolean;
}

/** The connections of one program or browser, as text.js joins them. */
export interface Group extends Client {
  ip: string;
  browser: boolean;
  self: boolean; // it is this page
}

/** The stream socket, texts (stream.go): devices without letters, once they are known. */
export interface Equipment {
  others: { name: Name; code: number; driver: string }[];
  rays: Record<string, Rays[]>; // by letter or name
  channels: Record<string, Channel[]>;
}

/** Where readings that follow each other look from and to (PROTOCOL 8.9.6). */
export interface Rays {
  first: number;
  count: number;
  x_mm: number;
  y_mm: number;
  heading_deg: number;
  step_deg: number;
  near_mm: number; // 0: not known, as far_mm
  far_mm: number;
  cone_deg: number; // 0: a line
}

/** An input, an output or a joint (PROTOCOL 8.9.7). */
export interface Channel {
  number: number;
  role: "input" | "output" | "joint";
  unit: string; // bit, mV, mdeg ...; -: not known
  min: number; // UNKNOWN of wire.js, as max
  max: number;
  name: string; // may be empty
}

/** The stream socket, texts (stream.go). */
export interface StreamReport {
  access: Record<string, string>;
  refused?: Record<string, Refusal>;
}

export interface Refusal {
  why: "missing" | "right" | "hardware" | "used" | "off" | "ring" | "closed" | "silent";
  text: string;
}

/** The drive socket (drive.go). */
export interface DriveReport {
  held: string;
  error?: string;
}

export interface DriveMessage {
  drive?: [speed: number, turn: number]; // mm/s, deg/s
  take?: boolean;
  look?: [pan: number, tilt: number, zoom: number]; // degrees; zoom 0 to 1023
  grip?: [command: number, argument: number];
  motors?: boolean;
  reset?: boolean;
  device?: Name; // the target of look, grip and the following
  output?: { number: number; value: number };
  joint?: { number?: number; goal?: number }; // without a goal it stops, without a number all of them
  power?: boolean; // of the joints
  goal?: { x?: number; y?: number; tag?: number; speed?: number; turn?: number }; // of a goto device, mm; without x and y it gives up
}

/** The world socket, texts (world.go, scene.go, edit.go). */
export type WorldMessage = Scene | WorldReport | { draft: Draft };

export interface WorldReport {
  mover: number; // -1: none
  error: string;
}

export interface WorldCommand {
  move?: { mover: number } & Pose;
  pause?: boolean;
  step?: number;
  speed?: number;
  edit?: Edit & { base: number };
}

export interface Scene {
  name: string;
  fixtures: Model[];
  movers: Model[];
}

export interface Model {
  name: string;
  parts: Part[];
  mounts?: SceneMounts; // of a robot
}

export interface Part {
  color: string;
  top: number;
  outlines: Vec[][];
}

export interface Vec {
  X: number;
  Y: number;
}

export interface Placement extends Vec {
  Heading: number;
}

/** Mounts of the sensors of a robot: null, 0 or missing for those that it does not report. */
export type SceneMounts = { [Name in keyof Mounts]?: Mounts[Name] | null };

export interface Mounts {
  Laser: Placement;
  Camera: Placement;
  Sonars: Placement[];
  SonarFOV: number;
}

/** Where a camera's lens is on the robot, and its view. */
export interface Lens extends Placement {
  above: number; // metres above the plane of the laser
  tilt: number; // radians up
  fov: number; // radians from the left to the right of a picture
}

export interface Edit {
  move?: { thing: number } & Pose;
  delete?: number;
  add?: { kind: string } & Pose;
  wall?: { from: Point; to: Point };
  undo?: boolean;
  revert?: boolean;
}

export interface Draft {
  scene?: Scene; // missing after an error
  starts: Placement[]; // of the fixtures, then of the movers
  kinds: string[];
  text: string;
  id: string;
  changes: number;
  edited: boolean;
  undo: boolean; // something can be undone
  old: boolean;
  error: string;
}

/** GET /shape (shape.go). */
export interface Shape {
  Outline: Vec[] | null;
  Sonars: Placement[] | null;
  Laser: Placement | null;
  Camera: Placement | null;
}

/** GET /run, POST /playback and /record (run.go). Times are ns since 1970. */
export interface RunReport {
  write: boolean;
  playback?: Playback;
  recording?: Recording;
}

export interface Playback {
  start: number;
  end: number;
  time: number;
  speed: number;
  state: "off" | "playing" | "paused" | "ended";
  steps?: boolean;
}

export interface Recording {
  on: boolean;
  error?: string; // why it has ended by itself
  manual: boolean;
  file: string;
  bytes: number;
}

/** GET /log (run.go). */
export interface LogReply {
  last: number;
  lines: LogLine[];
}

export interface LogLine {
  level: string;
  ts?: string;
  msg: string;
  [field: string]: unknown;
}

// Types that the page makes of them.

export interface Point {
  x: number;
  y: number;
}

export interface Pose extends Point {
  heading: number;
}

export interface TrailPoint extends Point {
  jump: boolean; // no line is drawn to it
}

/** Data of a robot's devices, by letter or name. */
export type Data = Lettered & { [name: Name]: any }; // any: one of Lettered or Extra, by interface

/** A device without a letter, for example laser:1. */
export type Name = `${string}:${number}`;

/** The name of a device for the page: its letter, or its name. */
export type Key = Letter | Name;

/** Data of the interfaces that have no letters, and of those that have another form than a letter's. */
export interface Extra {
  laser: Ranges;
  sonar: Ranges;
  ranger: Ranges;
  imu: Imu;
  gps: Gps;
  io: Values;
  servo: Joint[];
  goto: Goal;
}

/** Of a goto device (PROTOCOL 7.14). */
export interface Goal extends Point { // in the frame of the odometry; NaN: there was none
  state: number;
  reason: number;
  tag: number;
  distance: number; // m; NaN: not known
}

/** Metres; Infinity: nothing is in range; NaN: not taken. */
export type Ranges = Float32Array;

/** Of the three axes: ahead, left, up. NaN: not measured. */
export interface Imu {
  angles: number[]; // roll, pitch, yaw, degrees
  rates: number[]; // degrees a second
  accelerations: number[]; // m/s²
}

export interface Gps {
  fix: number; // PROTOCOL 7.11
  satellites: number; // NaN: not known, as all below
  latitude: number; // degrees
  longitude: number;
  height: number; // m
  horizontal: number; // m, one standard deviation
  vertical: number;
  speed: number; // m/s
  course: number; // degrees clockwise from north
}

/** Of each channel, in its unit. NaN: not known. */
export type Values = number[];

export interface Joint {
  position: number; // in the unit of the joint; NaN: not known
  goal: number; // NaN: it has none
  moving: boolean;
  power: boolean | undefined; // undefined: not known
  limit: boolean;
  failed: boolean;
}

/** The page's facts about a device without a letter. */
export interface Other {
  name: Name;
  interface: string;
  index: number;
  label: string; // for people
  driver: string;
  rays: Rays[];
  channels: Channel[];
}

/** The way of a receiver, in metres east and north of where it was first. */
export interface Track {
  latitude: number; // of its origin
  longitude: number;
  points: TrailPoint[];
}

export interface Lettered {
  p?: Position;
  l?: Float32Array;
  s?: Float32Array;
  m?: { front: number; rear: number; volts: number };
  g?: { state: number; beams: number };
  z?: Look;
  v?: Blob[];
}

export interface Position extends Pose {
  time: number; // s
  speed: number; // m/s
  turn: number; // rad/s
  compass: number;
  stall: boolean;
}

export interface Look {
  pan: number; // degrees, as tilt
  tilt: number;
  zoom: number; // 0 to 1023
}

export interface Blob {
  channel: number;
  area: number;
  x: number;
  y: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export type Letter = keyof Lettered;

export interface Plan extends Point {
  resolution: number; // metres of a cell
  width: number;
  height: number;
  wall(x: number, y: number): boolean;
}

/** The state of a robot at a moment of a timeline. */
export interface RobotMoment {
  at: number;
  data: Data;
  ages: [device: Key, age: number][];
  lost?: boolean;
  near?: number; // kept by plots.js
}

/** The methods that a View needs of handlers of a drag. */
export interface Drag {
  move(point: Point): void;
  end(): void;
}

export type Context = CanvasRenderingContext2D;
export type Palette = Record<string, string>;

/** Elements of index.html that are more than an HTMLElement, by their id. */
export interface Elements {
  add: HTMLFormElement;
  battery: HTMLMeterElement;
  "edit-add": HTMLButtonElement;
  "edit-delete": HTMLButtonElement;
  "edit-kind": HTMLSelectElement;
  "edit-revert": HTMLButtonElement;
  "edit-undo": HTMLButtonElement;
  "edit-wall": HTMLButtonElement;
  host: HTMLInputElement;
  icon: HTMLImageElement;
  image: HTMLCanvasElement;
  "max-speed": HTMLInputElement;
  "max-turn": HTMLInputElement;
  pan: HTMLInputElement;
  "picture-choice": HTMLSelectElement;
  "picture-large": HTMLButtonElement;
  "picture-save": HTMLButtonElement;
  play: HTMLButtonElement;
  "play-speed": HTMLSelectElement;
  rate: HTMLSelectElement;
  record: HTMLButtonElement;
  scope: HTMLCanvasElement;
  search: HTMLInputElement;
  seek: HTMLInputElement;
  speed: HTMLSelectElement;
  tilt: HTMLInputElement;
  timeline: HTMLInputElement;
  "world-canvas": HTMLCanvasElement;
  zoom: HTMLInputElement;
}

/** Names of the values that the browser keeps: for the user, and for the tab ("shown", a robot, and "editing"). */
export type Kept = "theme" | "robots" | "plots" | "shown" | "editing";

/** Work that first.js has begun before the modules are here. */
export interface First {
  kept(name: Kept): string | null; // the value that the browser keeps, stored by any page; it never throws
  keep(name: Kept, text: string): void; // until the page is closed if the browser refuses; it never throws
  page: string; // this page's name for itself
  opened: Map<string, { socket: WebSocket; events: Event[] }>; // by address; events: all that they have received
  plan: Promise<Response | null> | undefined;
  watched: number; // robots: of more, only the one that is shown is watched from the start, since each needs a connection
  rate: number; // Hz, of data at the start
  devices: string; // letters of those that the page shows, in the order of their buttons
  address(path: string, parameters?: Record<string, string>): string; // of a socket
  refusal(): Promise<string>; // why the server refuses this page: sockets and scripts do not get to know; empty: it does not
  stream(robot: string, rate: number, letters: Iterable<string>): Record<string, string>; // parameters of a stream
}

declare global {
  interface Window {
    player: object; // for the browser's console and for tests
    first: First;
  }
  const first: First;
}
