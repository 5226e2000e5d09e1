import type { WaitOptions } from "./data.js";

/** A fiducial that a fiducial finder sees. */
export interface Sighting {
  /** Of the robot or thing that has it. */
  name: string;
  /** Its fiducial_return; 0: too far away to be identified. */
  id: number;
  /** m */
  range: number;
  /** deg, counterclockwise from the direction of the finder */
  bearing: number;
}

/** A pose in the world: m, deg counterclockwise from the x axis. */
export interface Pose {
  x: number;
  y: number;
  heading: number;
}

/** A robot, or a thing that can move. */
export interface Mover extends Pose {
  name: string;
  robot: boolean;
  sees: Sighting[];
}

/** The true state of a world. */
export interface SimulationState {
  /** Simulated seconds. */
  time: number;
  /** Simulated seconds a second; 0: as fast as possible. */
  speed: number;
  paused: boolean;
  /** quit_time has passed. */
  finished: boolean;
  seed: number;
  /** Robots, then things. */
  movers: Mover[];
}

/** Orders for a world, carried out in this order. */
export interface SimulationOrder {
  /** All is as at the start, also the time; clients stay connected. */
  reset?: boolean;
  /** The same with another seed. */
  seed?: number;
  /** By name: all of them or, without room, none. */
  move?: Record<string, Pose>;
  /** 0 to 1000. */
  speed?: number;
  pause?: boolean;
  /** 0 to 1000 steps of 10 ms. */
  step?: number;
}

/** The world of a simulation, on the address of the dashboard. Calls wait for 60 s unless options says otherwise. */
export declare class Simulation {
  /** tls, in Node.js: https, with options of https.request: ca, cert, key, servername. */
  constructor(host?: string, port?: number, tls?: object | null);
  host: string;
  port: number;
  tls: object | null;
  state(options?: WaitOptions): Promise<SimulationState>;
  /** Changes the world and returns the state afterwards. Throws a RefusedError if that is not possible. */
  order(order: SimulationOrder, options?: WaitOptions): Promise<SimulationState>;
}
