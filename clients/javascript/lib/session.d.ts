/** The core: everything about one connection except its input and output. */
import {
  type Access, type Channel, type ChannelColor, type Device, type Goal, type Granted, type Part, type Rays, Robot, type Wanted,
} from "./data.js";

export type {
  Access, Blob, Channel, ChannelColor, DataOf, Device, Freshness, Goal, GPS, Granted, Gripper, IMU, IO, Joint, Joystick, Misc,
  Part, Position, PTZ, Ranger, Rays, Servo, Vision, WaitOptions, Wanted,
} from "./data.js";
export { FIX, Goto, GOTO_STATE, NOTHING_IN_RANGE, PlayerEvent, UNKNOWN_RANGE } from "./data.js";
export type { Kind, Reason } from "./errors.js";
export { ClosedError, GotoError, PlayerError, ProtocolError, RefusedError, TimeoutError, UsageError } from "./errors.js";

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
 * One connection to a server. Devices are named by their names, sonar or laser:1, or their letters. Those without
 * letters are known once the server has listed them.
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
  /** Reports whether pairsOf needs question d before it. */
  needsDevices(wanted: string | Wanted): boolean;
  /** The pairs of a request. Throws an error of kind refused or usage for any other reply. */
  pairsOf(wanted: string | Wanted): string;
  /** The result of finishRequest, in the form of the request. */
  grantedOf(wanted: string, pairs: string): string;
  grantedOf<W extends Wanted>(wanted: W, pairs: string): Granted<W>;
  grantedOf<W extends Wanted>(wanted: string | W, pairs: string): string | Granted<W>;
  /** Sends a device request. REPLY follows. */
  startRequest(pairs: string): void;
  /** Asks why devices were refused, after REPLY. If it returns true, REPLY follows once more. */
  explain(pairs: string): boolean;
  /** Returns the granted pairs after REPLY. Throws an error of kind refused if they are less than asked for. */
  finishRequest(pairs: string, wanted?: string | Wanted): string;
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
  /** The colours of vision after the REPLY to question v. */
  finishColors(): ChannelColor[];
  /** Whether the server has listed a device of this name. Throws an error of kind usage if it cannot be a name. */
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
  /** Drops all that a new connection would restore. */
  forget(): void;
  /** The request that opens again the devices that were open before the connection was lost. */
  wanted(): string;
  /** The devices that the server has listed, or null. */
  listed(): Device[] | null;
  /** Throws an error of kind refused, and forgets the open devices, if a byte means another device than before. */
  checkSame(before: Device[]): void;
  /** Sends name, frequency and data mode again, before the devices are requested. */
  restoreSettings(): void;
  /** Sends freshness mode again, after device y was requested. */
  restoreFreshness(): void;

  /** The age of a device's data in us when the server made the newest round; null if it is not known. */
  ageUs(device: string): number | null;
  /** The access from the server's last reply: r, w, a, c or e, or an empty string. */
  access(device: string): string;

  /** Whether this client is in request/reply mode. */
  readonly asksForData: boolean;

  /**
   * mm/s forward, deg/s counterclockwise. The wheels keep this speed until the next call, until the command lifetime is
   * over, or until this client leaves. Throws an error of kind usage without write access to position.
   */
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
  /** Has a goto device drive to a goal, around obstacles. Its data say how far it has come. Needs access write or all. */
  setGoal(goal: Goal, device?: string): void;
  /** Has a goto device give its goal up; the wheels stop if it drives. */
  stopGoal(device?: string): void;
  /** Sends a command of any layout. */
  command(device: string, payload: Uint8Array): void;

  /** CONTINUOUS or REQUEST_REPLY. */
  setDataMode(mode: number): void;
  /** 1 to 65535 Hz. */
  setFrequency(frequency: number): void;
  /**
   * For how long a command of setSpeed is good: 0 to 60000 ms; 0: until the client leaves. The wheels stop unless it is
   * repeated in time, also when this program hangs.
   */
  setCommandLifetime(ms: number): void;
  /** Asks for one round in request/reply mode. */
  requestData(): void;
  /** Only new data (PROTOCOL 8.2). Needs device y open for reading. */
  setFresh(on: boolean): void;
  /** The name by which people see this client: at most 64 bytes of printable ASCII; "" removes it. */
  setName(name: string): void;
  /** Stops the robot for all clients until it is released: false. Needs the right to write. */
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
