import type { ConnectionOptions } from "node:tls";
import { type Channel, type Device, type Part, type Rays, Session } from "./session.js";

export * from "./session.js";
export * from "./simulation.js";

/** A connection to a Player server from Node.js. Time limits are in ms. */
export declare class PlayerClient extends Session {
  /** Does not connect. With tls it is a connection by TLS: ca, cert, key, servername. */
  constructor(host?: string, port?: number, tls?: ConnectionOptions | null);
  host: string;
  port: number;
  tls: ConnectionOptions | null;
  connect(host?: string, port?: number, timeoutMs?: number): Promise<void>;
  /** The server then stops the wheels if this client had write access to them. */
  close(): void;
  /** Asks for devices and returns the server's reply. Throws an error of kind refused if it is less. */
  request(pairs: string, timeoutMs?: number): Promise<string>;
  /** Where the parts of the robot are, and what they cover, as far as the server knows it. */
  geometry(timeoutMs?: number): Promise<Part[]>;
  /** The devices of the robot. From then on every method takes their names. Empty for an older server. */
  devices(timeoutMs?: number): Promise<Device[]>;
  /**
   * Opens a device by its name, for example "laser:1" or "imu": access is r, w or a. It returns the character that
   * stands for the device in request and in new. Throws an error of kind refused if the robot has no such device.
   */
  open(name: string, access?: "r" | "w" | "a", timeoutMs?: number): Promise<string>;
  /** Where the readings of lasers, sonars and rangers look from and to, as far as the server knows it. */
  rays(timeoutMs?: number): Promise<Rays[]>;
  /** What the inputs, outputs and joints of the robot are. */
  channels(timeoutMs?: number): Promise<Channel[]>;
  /** Waits for one whole round of data. */
  read(timeoutMs?: number): Promise<void>;
  /**
   * Connects again and restores name, access, frequency, command lifetime, data mode and freshness mode. Throws an
   * error of kind refused with the word moved if a byte means another device now; no device is open then.
   */
  reconnect(timeoutMs?: number): Promise<void>;
}
