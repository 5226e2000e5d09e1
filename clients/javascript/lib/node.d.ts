import {
  type Access, type Channel, type ChannelColor, type Device, type Goal, type Granted, type Part, type Rays, Session,
  type WaitOptions, type Wanted,
} from "./session.js";
import type { Goto } from "./data.js";

export * from "./session.js";
export * from "./simulation.js";

/** Options of Node's tls.connect, of which these are usual. */
export interface TlsOptions {
  /** PEM: the authority that is trusted. */
  ca?: string | Uint8Array;
  /** PEM: the certificate that this client shows. */
  cert?: string | Uint8Array;
  /** PEM: its key. */
  key?: string | Uint8Array;
  /** The name in the server's certificate, by default the host. */
  servername?: string;
  [option: string]: unknown;
}

/**
 * A connection to a Player server from Node.js. Calls that wait take options as their last argument: { timeoutMs, signal },
 * or a number, which is timeoutMs. At the end of the time they throw a TimeoutError, and when the signal aborts its reason;
 * the connection stays usable. Without options none waits for ever. A lost connection is a ClosedError of any call.
 */
export declare class PlayerClient extends Session {
  /** Does not connect. With tls it is a connection by TLS. */
  constructor(host?: string, port?: number, tls?: TlsOptions | null);
  constructor(options: { host?: string; port?: number; tls?: TlsOptions | null });
  host: string;
  port: number;
  tls: TlsOptions | null;
  /** Connects, by default to the properties host and port within 10 s. An earlier connection is closed. */
  connect(host?: string, port?: number, options?: WaitOptions): Promise<void>;
  connect(options: { host?: string; port?: number; timeoutMs?: number; signal?: AbortSignal }): Promise<void>;
  /** The server then stops the wheels if this client had write access to them. */
  close(): void;
  /**
   * Asks for devices, for example { sonar: "read", position: "write" }, or "srpw", and returns what was granted in the
   * same form. Starting a device can take seconds; by default it waits 60 s. Throws a RefusedError if less was granted.
   */
  request<W extends Wanted>(wanted: W, options?: WaitOptions): Promise<Granted<W>>;
  request(pairs: string, options?: WaitOptions): Promise<string>;
  /** Waits for one whole round of data, by default at most 10 s. */
  read(options?: WaitOptions): Promise<void>;
  /** The places and the sizes of the parts of the robot, as far as the server knows them. */
  geometry(options?: WaitOptions): Promise<Part[]>;
  /** The devices of the robot. From then on every method takes their names. Empty for an older server. */
  devices(options?: WaitOptions): Promise<Device[]>;
  /**
   * Opens a device by its name, for example "laser:1" or "imu", by default for reading. It returns the character that
   * stands for the device in request and in new. Throws a RefusedError if the robot has no such device.
   */
  open(name: string, access?: Access, options?: WaitOptions): Promise<string>;
  /** Where the readings of lasers, sonars and rangers look from and to, as far as the server knows it. */
  rays(options?: WaitOptions): Promise<Rays[]>;
  /** Descriptions of the inputs, outputs and joints of the robot. */
  channels(options?: WaitOptions): Promise<Channel[]>;
  /** The colours of the channels of vision, as far as the server knows them. */
  colors(options?: WaitOptions): Promise<ChannelColor[]>;
  /**
   * Drives to a goal by a goto device, which was requested with access all, and returns its data when the robot has
   * arrived. It reads rounds meanwhile. Throws a GotoError if the robot gives the goal up, if the server has not taken it,
   * or if another goal has replaced it. After any other error, also of the signal, the robot stops if it drives to this
   * goal.
   */
  goTo(goal: Goal, options?: number | { timeoutMs?: number; signal?: AbortSignal; device?: string }): Promise<Goto>;
  /**
   * Connects again, within 60 s, and restores name, access, frequency, command lifetime, data mode and freshness mode.
   * Throws a RefusedError with the word moved if a byte means another device now; no device is open then.
   */
  reconnect(options?: WaitOptions): Promise<void>;
}
