import type { ConnectionOptions } from "node:tls";
import { type Part, Session } from "./session.js";

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
  /** Waits for one whole round of data. */
  read(timeoutMs?: number): Promise<void>;
  /** Connects again and restores name, access, frequency, command lifetime, data mode and freshness mode. */
  reconnect(timeoutMs?: number): Promise<void>;
}
