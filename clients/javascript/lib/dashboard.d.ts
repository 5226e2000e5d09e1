import { Robot } from "./data.js";

export { GRIPPER, PlayerError } from "./session.js";
export type { Blob, Gripper, Kind, Misc, Position, PTZ, Vision } from "./session.js";

/** Reads and commands one robot through the WebSockets of the server's dashboard, from a browser. */
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
  connect(timeoutMs?: number): Promise<void>;
  close(): void;
  /** Pairs of a device and r or c. Throws an error of kind refused if less was granted. */
  request(pairs: string, timeoutMs?: number): Promise<string>;
  /** Waits for one round of new data. */
  read(timeoutMs?: number): Promise<void>;
  /** The letters of the devices with data in the newest round, sorted. */
  readonly new: string;
  /** The age of a device's data in us when the robot's server sent it; null if it is not known. */
  ageUs(device: string): number | null;
  /** The access to a device for reading: r, c or e, or an empty string. */
  access(device: string): string;
  /** The most rounds in a second. */
  setFrequency(frequency: number): void;
  /** Drives for 0.4 s: mm/s forward, deg/s counterclockwise. */
  setSpeed(speed: number, turnrate: number): void;
  setPTZ(pan: number, tilt: number, zoom: number): void;
  setGripper(command: number, value?: number): void;
  changeMotorState(on: boolean): void;
  resetPosition(): void;
}
