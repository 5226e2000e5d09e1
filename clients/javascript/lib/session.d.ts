/** The core: everything about one connection except its input and output. */
import { type Channel, type DataOf, type Device, type Part, type Rays, Robot } from "./data.js";

export type {
  Blob, Channel, DataOf, Device, Freshness, GPS, Gripper, IMU, IO, Joint, Joystick, Misc, Part, Position, PTZ, Ranger,
  Rays, Servo, Vision,
} from "./data.js";
export { FIX, NOTHING_IN_RANGE, UNKNOWN_RANGE } from "./data.js";

export type Kind = "refused" | "timeout" | "closed" | "protocol" | "usage";

/** Why a device was refused: a word of PROTOCOL 8.9.1, and text for people. */
export interface Reason {
  readonly why: string;
  readonly text: string;
}

/** Every error of this library: see errors.js for the kinds. */
export declare class PlayerError extends Error {
  constructor(kind: Kind, text: string, granted?: string, reasons?: Record<string, Reason>);
  readonly kind: Kind;
  /** The server's reply, if kind is refused. */
  readonly granted?: string;
  /**
   * Why devices are e in granted, by device, as far as the server says, if kind is refused. A device is its letter, or
   * its name if it has none.
   */
  readonly reasons?: Record<string, Reason>;
}

export declare const ROUND: "round";
export declare const REPLY: "reply";
export declare const CONTINUOUS: 0;
export declare const REQUEST_REPLY: 1;
export declare const DIRECT_WHEEL_VELOCITY: 0;
export declare const SEPARATE_TRANS_ROT: 1;

/** Commands of setGripper (PROTOCOL 5.1). */
export declare const GRIPPER: Readonly<{
  gripOpen: 1;
  gripClose: 2;
  gripStop: 3;
  liftUp: 4;
  liftDown: 5;
  liftStop: 6;
  gripStore: 7;
  gripDeploy: 8;
  gripHalt: 15;
  gripPress: 16;
  liftCarry: 17;
}>;

/** The joint of moveJoint that is all of them (PROTOCOL 5.1). */
export declare const ALL_JOINTS: 255;

/**
 * One connection to a server. Devices are named by their letters, and all of them by their names, laser:1, or imu,
 * which means imu:0, once the server has listed them.
 */
export declare class Session extends Robot {
  /** send is called with each message for the server. */
  constructor(send: (message: Uint8Array) => void);

  /** Adds bytes from the server. Call nextEvent until it returns null before the next receive. */
  receive(bytes: Uint8Array): void;
  /**
   * Returns the next event, or null if more bytes are needed. Throws an error of kind protocol for an invalid block.
   */
  nextEvent(): typeof ROUND | typeof REPLY | null;
  /** Sends a device request. REPLY follows. */
  startRequest(pairs: string): void;
  /** Asks why devices were refused, after REPLY. If it returns true, REPLY follows once more. */
  explain(pairs: string): boolean;
  /** Returns the granted pairs after REPLY. Throws an error of kind refused if they are less than asked for. */
  finishRequest(pairs: string): string;
  /** Asks a question of PROTOCOL 8.9. REPLY follows, after the answer. */
  startQuestion(question: string): void;
  /** The parts of the robot after the REPLY to question g. */
  finishGeometry(): Part[];
  /** The devices of the robot after the REPLY to question d. From then on every method takes their names. */
  finishDevices(): Device[];
  /** Where readings look from and to after the REPLY to question r. */
  finishRays(): Rays[];
  /** The inputs, outputs and joints after the REPLY to question i. */
  finishChannels(): Channel[];
  /** Whether the server has listed a device of this name. Throws an error of kind usage for what cannot be a name. */
  isListed(name: string): boolean;
  /**
   * The character of a device by its name, after the REPLY to question d. Throws an error of kind refused if there is
   * none.
   */
  codeOf(name: string): string;
  /** Throws an error if the server sends no rounds in the present state. */
  checkReadable(): void;
  /** Starts a new connection. */
  reset(): void;
  /** Drops what a new connection would restore. */
  forget(): void;
  /** The request that opens again what was open before the connection was lost. */
  wanted(): string;
  /** The devices that the server has listed, or null. */
  listed(): Device[] | null;
  /** Throws an error of kind refused, and forgets what was open, if a byte means another device than before. */
  checkSame(before: Device[]): void;
  /** Sends name, frequency and data mode again, before the devices are requested. */
  restoreSettings(): void;
  /** Sends freshness mode again, after device y was requested. */
  restoreFreshness(): void;

  /**
   * The newest data of a device, as its interface has them; null: it has sent none since the connection was made, or
   * its interface is not known here. If has is false they are outdated.
   */
  data<I extends keyof DataOf>(device: I | `${I}:${number}`): DataOf[I] | null;
  data(device: string): unknown;
  /** The letters of the devices with a block in the newest round, sorted. */
  readonly new: string;
  /** The age of a device's data in us when the server made the newest round; null if it is not known. */
  ageUs(device: string): number | null;
  /** The access from the server's last reply: r, w, a, c or e, or an empty string. */
  access(device: string): string;

  /** mm/s forward, deg/s counterclockwise. It is in force until the next call. */
  setSpeed(speed: number, turnrate: number): void;
  /** deg counterclockwise, deg up, 0 (wide) to 1023 (telephoto). */
  setPTZ(pan: number, tilt: number, zoom: number): void;
  /** A command of GRIPPER; value in steps of 20 ms. */
  setGripper(command: number, value?: number): void;
  /** Sets an output of an io device to a value in the unit of the output; a digital one to 0 or 1. */
  setOutput(device: string, channel: number, value: number): void;
  /**
   * Moves a joint of a servo device to a goal in the unit of the joint; null: it stops where it is. speed is in that
   * unit each second; 0: as the driver moves it.
   */
  moveJoint(device: string, joint: number, goal: number | null, speed?: number): void;
  /** Stops all joints of a servo device where they are. */
  stopJoints(device: string): void;
  /** Sends a command of any layout. */
  command(device: string, payload: Uint8Array): void;

  /** CONTINUOUS or REQUEST_REPLY. */
  setDataMode(mode: number): void;
  /** 1 to 65535 Hz. */
  setFrequency(frequency: number): void;
  /** For how long a command of setSpeed is good: 0 to 60000 ms; 0: until the client leaves. */
  setCommandLifetime(ms: number): void;
  /** Asks for one round in request/reply mode. */
  requestData(): void;
  /** Only new data (PROTOCOL 8.2). Needs device y open for reading. */
  setFresh(on: boolean): void;
  /** The name by which people see this client: at most 64 bytes of printable ASCII; "" removes it. */
  setName(name: string): void;
  /** Stops the robot for everybody until it is released: false. Needs the right to write. */
  emergencyStop(on: boolean): void;
  /** The power of the motors, for all clients. */
  changeMotorState(on: boolean): void;
  /** Odometry to (0, 0, 0), for all clients. */
  resetPosition(): void;
  /** DIRECT_WHEEL_VELOCITY or SEPARATE_TRANS_ROT, for all clients. */
  changeVelocityControl(mode: number): void;
  /** Sends a configuration of any layout. */
  configure(device: string, payload: Uint8Array): void;
}
