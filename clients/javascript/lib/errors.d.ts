/** The errors of the library. */
import type { Goto } from "./data.js";

export type Kind = "refused" | "timeout" | "closed" | "protocol" | "usage" | "goto";

/** Why a device was refused: a word of PROTOCOL 8.9.1, and text for people. */
export interface Reason {
  readonly why: string;
  readonly text: string;
}

/** Every error of this library, with a class for each kind. */
export declare class PlayerError extends Error {
  constructor(kind: Kind, text: string, granted?: string, reasons?: Record<string, Reason>);
  readonly kind: Kind;
  /** The server's reply, if kind is refused. */
  readonly granted?: string;
  /**
   * Why devices are e in granted, by device, as far as the server says, if kind is refused. A device is called as in the
   * request, or if that was letters, its letter, or its name if it has none.
   */
  readonly reasons?: Record<string, Reason>;
}

/** The server granted less than asked for, which is in force, or the robot has no such device. */
export declare class RefusedError extends PlayerError {
  constructor(text: string, granted?: string, reasons?: Record<string, Reason>);
  readonly kind: "refused";
  readonly granted: string;
  readonly reasons: Record<string, Reason>;
}

/** The time limit has passed. The connection is usable; the next read completes a round that arrived in part. */
export declare class TimeoutError extends PlayerError {
  constructor(text: string);
  readonly kind: "timeout";
}

/** There is no connection: it was lost, closed, or not possible. The server has stopped the wheels. */
export declare class ClosedError extends PlayerError {
  constructor(text: string);
  readonly kind: "closed";
}

/** The server sent bytes that do not match the protocol. The next read continues after them. */
export declare class ProtocolError extends PlayerError {
  constructor(text: string);
  readonly kind: "protocol";
}

/** The call is not possible in this state, or with these arguments. Nothing was sent. */
export declare class UsageError extends PlayerError {
  constructor(text: string);
  readonly kind: "usage";
}

/** The robot has not arrived at the goal of goTo. */
export declare class GotoError extends PlayerError {
  constructor(text: string, data?: Goto | null);
  readonly kind: "goto";
  /** The device's last data about the goal; null: the server has not taken the goal. */
  readonly data: Goto | null;
}
