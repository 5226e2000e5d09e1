/** The data of the devices (PROTOCOL 7 and 8.1), in the protocol's units. */

/** The odometry: time in ms since the server started, x forward and y to the left in mm, heading and
 * compass 0..359 deg counterclockwise, speed in mm/s, turnrate in deg/s counterclockwise. */
export interface Position {
  time: number;
  x: number;
  y: number;
  heading: number;
  speed: number;
  turnrate: number;
  compass: number;
  /** Zero if the motors turn freely. */
  stall: number;
}

/**
 * The lowest five bits of the bumpers are set while pressed; battery and voltage (the manual has both names) in
 * decivolt.
 */
export interface Misc {
  frontBumpers: number;
  rearBumpers: number;
  battery: number;
  voltage: number;
}

/** Paddles, lift and break beams: two bytes of bits, and their names. */
export interface Gripper {
  readonly state: number;
  readonly beams: number;
  readonly paddlesOpen: boolean;
  readonly paddlesClosed: boolean;
  readonly paddlesMoving: boolean;
  readonly paddlesError: boolean;
  readonly liftUp: boolean;
  readonly liftDown: boolean;
  readonly liftMoving: boolean;
  readonly liftError: boolean;
  readonly gripLimitReached: boolean;
  readonly liftLimitReached: boolean;
  readonly outerBeamObstructed: boolean;
  readonly innerBeamObstructed: boolean;
  readonly leftPaddleOpen: boolean;
  readonly rightPaddleOpen: boolean;
}

/** pan -100..100 deg counterclockwise, tilt -25..25 deg up, zoom 0 (wide) to 1023 (telephoto). */
export interface PTZ {
  pan: number;
  tilt: number;
  zoom: number;
}

/** One patch of colour: its area, centre and bounding box in pixels, from the top left. */
export interface Blob {
  area: number;
  x: number;
  y: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Vision {
  /** 32 lists of blobs, the largest blob first. */
  readonly channels: Blob[][];
  /** The channels that have at least one blob. */
  readonly activeChannels: number[];
}

/** Bit n of buttons is set while button n is pressed; 8 axes, -32767..32767, 0 at rest. */
export interface Joystick {
  buttons: number;
  axes: Int16Array;
}

/** time in us since the server started; ages in us of every other block of the frame, 0xffffffff without data. */
export interface Freshness {
  time: number;
  ages: Uint32Array;
}

/** The readings of any range sensor (PROTOCOL 7.9). Question rays says where each of them looks. */
export interface Ranger {
  readonly unitMm: number;
  /** In units; or NOTHING_IN_RANGE, or UNKNOWN_RANGE. */
  readonly ranges: Uint16Array;
  /** A reading in mm; null: nothing is in range, or it was not taken. */
  mm(reading: number): number | null;
}

/** A reading of a Ranger: nothing is in range. */
export declare const NOTHING_IN_RANGE: 0xfffe;
/** A reading of a Ranger that was not taken, or whose echo was no distance. */
export declare const UNKNOWN_RANGE: 0xffff;

/**
 * The data of an inertial measurement unit (PROTOCOL 7.10), in the robot's axes: x ahead, y to the left, z up. null:
 * the unit does not measure it. Roll is positive with the left side up, pitch with the front down, yaw
 * counterclockwise. Gravity is a part of the accelerations: at rest on level ground z is 9807.
 */
export interface IMU {
  rollMdeg: number | null;
  pitchMdeg: number | null;
  yawMdeg: number | null;
  rollRateMdegPerS: number | null;
  pitchRateMdegPerS: number | null;
  yawRateMdegPerS: number | null;
  xMmPerS2: number | null;
  yMmPerS2: number | null;
  zMmPerS2: number | null;
}

/** How a receiver has found its position: float is RTK that has not settled. */
export declare const FIX: Readonly<{ none: 0; plain: 1; dgps: 2; float: 3; rtk: 4; deadReckoning: 5 }>;

/** Where a satellite receiver is (PROTOCOL 7.11). null: not known. */
export interface GPS {
  /** One of FIX; a later server may have others. */
  fix: number | null;
  /** Used. */
  satellites: number | null;
  /** 1e-7 deg (11 mm), WGS 84, north. */
  latitudeE7: number | null;
  /** 1e-7 deg, WGS 84, east. */
  longitudeE7: number | null;
  /** Above mean sea level. */
  heightMm: number | null;
  /** Standard deviation of the place. */
  horizontalMm: number | null;
  /** Standard deviation of the height. */
  verticalMm: number | null;
  /** UTC, since 1970. */
  timeMs: number | null;
  /** Over ground. */
  speedMmPerS: number | null;
  /** Over ground, 0..359999, clockwise from north. */
  courseMdeg: number | null;
}

/**
 * The values of inputs and outputs (PROTOCOL 7.12), in the units of question channels; a digital one is 0 or 1. null:
 * not known.
 */
export interface IO {
  values: (number | null)[];
}

/** One joint of a servo device. null: not known. */
export interface Joint {
  /** In the unit of the joint (question channels). */
  readonly position: number | null;
  /** In the unit of the joint; null also if it has none. */
  readonly goal: number | null;
  /** Bits, as sent. */
  readonly state: number;
  readonly moving: boolean | null;
  readonly powered: boolean | null;
  readonly atLimit: boolean | null;
  readonly failed: boolean | null;
}

/** The joints of a servo device (PROTOCOL 7.13). */
export interface Servo {
  joints: Joint[];
}

/** How far a goto device has come: idle before the first goal; blocked: it sees no way, and tries on. */
export declare const GOTO_STATE: Readonly<{ idle: 0; driving: 1; arrived: 2; blocked: 3; stopped: 4 }>;

/** How far a goto device has come (PROTOCOL 7.14). null: not known, or there was no goal. */
export declare class Goto {
  constructor(
    state: number, reason: number, tag: number, xMm: number | null, yMm: number | null, headingDeg: number | null,
    distanceMm: number | null,
  );
  /** One of GOTO_STATE. */
  readonly state: number;
  /** Of the state stopped: a number of PROTOCOL 7.14. */
  readonly reason: number;
  /** Of the goal. */
  readonly tag: number;
  /** Of the goal, in the frame of position. */
  readonly xMm: number | null;
  readonly yMm: number | null;
  /** To which the robot turns in the end, counterclockwise; null: any. */
  readonly headingDeg: number | null;
  /** To the goal, in a straight line. */
  readonly distanceMm: number | null;
  readonly arrived: boolean;
  /** A sentence about why the goal was given up, or an empty string. */
  readonly why: string;
}

/** A goal of a goto device (PROTOCOL 5.6). Numbers are rounded. A limit of 0 is the device's own. */
export interface Goal {
  /** In the frame of position. */
  xMm: number;
  yMm: number;
  /** To which the robot turns in the end, counterclockwise; null, the default: any. */
  headingDeg?: number | null;
  /** At most. */
  speedMmPerS?: number;
  /** At most. */
  turnRateDegPerS?: number;
  /** How far from the goal the robot has arrived. */
  toleranceMm?: number;
  /** Half of the narrowest gap that the robot is to pass. */
  radiusMm?: number;
  /** A number of 16 bits that the data repeats. A goal that has ended needs another one to be given again. */
  tag?: number;
}

/** The colour of a channel of vision (PROTOCOL 8.9.8). */
export interface ChannelColor {
  /** Its letter, or its name if it has none. */
  readonly device: string;
  /** In the data, from 0. */
  readonly channel: number;
  /** As in CSS: #ffa500 is orange. */
  readonly color: string;
}

/** How long a call may wait: timeoutMs, and a signal whose reason the call then throws. A number is timeoutMs. */
export type WaitOptions = number | {
  /** Infinity: for ever. */
  timeoutMs?: number;
  signal?: AbortSignal;
};

/** Access to a device: a word, or its letter. */
export type Access = "read" | "write" | "all" | "close" | "r" | "w" | "a" | "c";

/** Access by the name of a device, for example { sonar: "read", "laser:1": "read", position: "write" }. */
export type Wanted = { readonly [device: string]: Access };

/** The granted access: error only in the pairs of a RefusedError. */
export type Granted<W extends Wanted> = { [device in keyof W]: "read" | "write" | "all" | "close" };

/** An event of a client: round, protocol (of run alone) or closed. */
export declare class PlayerEvent extends Event {
  constructor(type: "round" | "protocol" | "closed", error?: Error | null);
  /** Of protocol and closed. */
  readonly error: Error | null;
}

/** The data of the devices of an interface. */
export interface DataOf {
  position: Position;
  sonar: Uint16Array;
  laser: Uint16Array;
  misc: Misc;
  gripper: Gripper;
  ptz: PTZ;
  vision: Vision;
  joystick: Joystick;
  ranger: Ranger;
  imu: IMU;
  gps: GPS;
  io: IO;
  servo: Servo;
  goto: Goto;
}

/** One device of the robot (PROTOCOL 8.9.5). */
export interface Device {
  /** The character whose code is its byte: the letter of a device that has one. */
  readonly code: string;
  /** For example laser. */
  readonly interface: string;
  /** Among the devices of the interface. */
  readonly index: number;
  /** For people. */
  readonly driver: string;
  /** For example laser:1. */
  readonly name: string;
}

/**
 * Where readings of a laser, a ring of sonars or a ranger look from and to (PROTOCOL 8.9.6): those that follow each
 * other from one point, in equal steps. The frame is the frame of Part.
 */
export interface Rays {
  /** Its letter, or its name if it has none. */
  readonly device: string;
  /** Reading, from 0. */
  readonly first: number;
  /** Readings, from 1. */
  readonly count: number;
  /** Of the point. */
  readonly xMm: number;
  readonly yMm: number;
  /** Of the first reading, counterclockwise. */
  readonly headingDeg: number;
  /** From a reading to the next, counterclockwise. */
  readonly stepDeg: number;
  /** The smallest distance; null: not known. */
  readonly nearMm: number | null;
  /** The largest distance; null: not known. */
  readonly farMm: number | null;
  /** How wide a reading sees, half to each side; 0: a line, or not known. */
  readonly coneDeg: number;
}

/** An input or an output of an io device, or a joint of a servo device (PROTOCOL 8.9.7). */
export interface Channel {
  /** Its name, for example io:0. */
  readonly device: string;
  /** In the data and in commands, from 0. */
  readonly number: number;
  readonly role: "input" | "output" | "joint";
  /** Of its values: bit of a digital channel, mV, mdeg, um, ...; null: not known. */
  readonly unit: string | null;
  /** The smallest of its values; null: not known. */
  readonly min: number | null;
  /** The largest of its values; null: not known. */
  readonly max: number | null;
  /** For people; may be empty. */
  readonly name: string;
}

/**
 * One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of rotation, x ahead, y to
 * the left (PROTOCOL 8.9.3). 0 in the last four: not known, or it has none.
 */
export interface Part {
  /** Its letter, or its name if it has none. */
  readonly device: string;
  /** Of a sonar: its place in the ranges; otherwise 0. */
  readonly number: number;
  readonly x: number;
  readonly y: number;
  /** Counterclockwise. */
  readonly heading: number;
  /** Along its heading; of position: the robot's body. */
  readonly length: number;
  readonly width: number;
  /** Of a sensor. */
  readonly range: number;
  /** How wide it sees, half to each side. */
  readonly view: number;
}

/**
 * The newest data of the devices that are read, and ways to wait for more. Each block replaces the data with new
 * objects. Data are zero, and null for interfaces without letters, until the first block.
 *
 * Events come while a call of the program waits, for example run: round, of type PlayerEvent, when a round is complete;
 * closed when the connection is lost, with the error; and protocol, of run alone, with the error.
 */
export declare class Robot extends EventTarget {
  position: Position;
  /** 16 ranges, mm: 0 at the front left, then clockwise. 0 mm: the sonar has not fired yet, or is missing. */
  sonar: Uint16Array;
  /** 361 ranges, mm: every half degree from the right (-90 deg) to the left (+90 deg). */
  laser: Uint16Array;
  misc: Misc;
  gripper: Gripper;
  ptz: PTZ;
  vision: Vision;
  joystick: Joystick;
  /** The newest block of device y, the server. */
  freshness: Freshness;
  /** Of ranger:0; without readings before the first block. */
  readonly ranger: Ranger;
  /** Of imu:0. */
  readonly imu: IMU;
  /** Of gps:0. */
  readonly gps: GPS;
  /** Of io:0; without values before the first block. */
  readonly io: IO;
  /** Of servo:0; without joints before the first block. */
  readonly servo: Servo;
  /** Of goto:0. */
  readonly goto: Goto;
  /** By index: lasers[1] is laser:1. Further ones are known when the server has listed its devices: request, open. */
  readonly lasers: readonly Uint16Array[];
  readonly sonars: readonly Uint16Array[];
  readonly positions: readonly Position[];
  readonly rangers: readonly Ranger[];
  readonly imus: readonly IMU[];
  /** The data of all devices of an interface that are known, by index. */
  all<I extends keyof DataOf>(interfaceName: I): readonly DataOf[I][];
  /**
   * The newest data of a device, as its interface has them; null: it has sent none since the connection was made, or
   * its interface is not known here. If has is false they are outdated.
   */
  data<I extends keyof DataOf>(device: I | `${I}:${number}`): DataOf[I] | null;
  data(device: string): unknown;
  /** Reports whether a device has data: its newest block was not empty. If not, its property is zero or outdated. */
  has(device: string): boolean;
  /** The payload of a device's newest block as sent, or null. */
  raw(device: string): Uint8Array | null;
  /** Reports whether a device has a block in the newest round. Without freshness mode (setFresh) all have. */
  isNew(device: string): boolean;
  /** The letters of the devices with a block in the newest round, sorted. isNew takes names. */
  readonly new: string;
  /** Waits for one whole round of data, by default at most 10 s. */
  read(options?: WaitOptions): Promise<void>;
  /** Rounds for a for await loop, each with this robot. It ends with an error of read. */
  rounds(options?: WaitOptions): AsyncGenerator<this, void, void>;
  /** rounds() */
  [Symbol.asyncIterator](): AsyncGenerator<this, void, void>;
  /** Reads rounds, for a program that listens to events, until its signal aborts. Throws when the connection is lost. */
  run(options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<void>;
  addEventListener(
    type: "round" | "protocol" | "closed", listener: (event: PlayerEvent) => void,
    options?: Parameters<EventTarget["addEventListener"]>[2],
  ): void;
  addEventListener(...args: Parameters<EventTarget["addEventListener"]>): void;
}
