import { type Granted, Robot, type WaitOptions } from "./data.js";

export {
  ClosedError, GRIPPER, PlayerError, PlayerEvent, ProtocolError, RefusedError, TimeoutError, UsageError,
} from "./session.js";
export type { Blob, Gripper, Kind, Misc, Position, PTZ, Vision, WaitOptions } from "./session.js";

/**
 * Reads and commands one robot through the WebSockets of the server's dashboard, from a browser. The wheels stop 0.4 s
 * after the last setSpeed. It has the options, errors and events of PlayerClient.
 */
export declare class DashboardClient extends Robot {
  /** dashboard is ws://host:port, by default of the page; robot is host:port as the dashboard sees it. Does not connect. */
  constructor(dashboard?: string, robot?: string, Socket?: typeof WebSocket);
  dashboard: string;
  robot: string;
  /** Rounds that were merged into later ones. */
  dropped: number;
  /** Letters of the devices to which this client has write access. */
  held: string;
  /** Why the last command that failed did, or why the dashboard stopped the robot. */
  commandError: string | null;
  /** Within 10 s. */
  connect(options?: WaitOptions): Promise<void>;
  /** The dashboard then stops the robot if this client drives it. */
  close(): void;
  /**
   * Opens devices for reading or closes them: { sonar: "read" }, or pairs, "sr". Throws a RefusedError if less was
   * granted.
   */
  request<W extends { readonly [device: string]: "read" | "close" | "r" | "c" }>(
    wanted: W, options?: WaitOptions,
  ): Promise<Granted<W>>;
  request(pairs: string, options?: WaitOptions): Promise<string>;
  /** Waits for one round of new data, by default at most 10 s. */
  read(options?: WaitOptions): Promise<void>;
  /** The letters of the devices with data in the newest round, sorted. isNew takes names. */
  readonly new: string;
  /** The age of a device's data in us when the robot's server sent it; null if it is not known. */
  ageUs(device: string): number | null;
  /** The access to a device for reading: r, c or e, or an empty string. */
  access(device: string): string;
  /** The most rounds in a second. */
  setFrequency(frequency: number): void;
  /** Drives for 0.4 s: mm/s forward, deg/s counterclockwise. */
  setSpeed(speed: number, turnrate: number): void;
  /** deg counterclockwise, deg up, 0 (wide) to 1023 (telephoto). */
  setPTZ(pan: number, tilt: number, zoom: number): void;
  /** A command of GRIPPER; value in steps of 20 ms. */
  setGripper(command: number, value?: number): void;
  /** The power of the motors, for all clients. The robot may start at once. */
  changeMotorState(on: boolean): void;
  /** Odometry to (0, 0, 0), for all clients. */
  resetPosition(): void;
}
