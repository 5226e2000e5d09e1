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

/** The lowest five bits of the bumpers are set while pressed; battery and voltage (the manual has both names) in decivolt. */
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

/**
 * One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of rotation, x ahead, y to the left
 * (PROTOCOL 8.9.3). 0 in the last four: not known, or it has none.
 */
export interface Part {
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

/** The newest data of the devices that are read. Each block replaces it with new objects. */
export declare class Robot {
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
  /** The newest block of device y. */
  freshness: Freshness;
  /** Reports whether a device has data: its newest block was not empty. If not, its property is zero or outdated. */
  has(device: string): boolean;
  /** The payload of a device's newest block as sent, or null. */
  raw(device: string): Uint8Array | null;
}
