// How the examples steer, apart from their connections: from ranges in mm to a speed in mm/s and a
// turn rate in deg/s.

// avoid drives around obstacles with the sonars, as in appendix C of the Player manual: the nearer an
// obstacle, the slower it drives; it turns towards the side with more room; without room it backs off.
export function avoid(sonar) {
  const left = push(sonar.slice(1, 4)), right = push(sonar.slice(4, 7));
  return [left + right, left - right];
}

// push returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm, 150 from 750 mm
// on. A sonar that has not fired yet reads 0 and does not count.
function push(ranges) {
  const fired = [...ranges].filter((mm) => mm > 0);
  const nearest = fired.length > 0 ? Math.min(...fired) : 300;
  return Math.min(Math.floor((100 * nearest) / 300) - 100, 150);
}

const DISTANCE = 600; // mm, to the wall
const SPEED = 250; // mm/s
const LOST = 2 * DISTANCE; // mm, above which there is no wall on the right

// followWall follows the wall on the right with the laser.
export function followWall(laser) {
  const ahead = Math.min(...laser.slice(120, 241)); // -30 to +30 deg
  if (ahead < DISTANCE) return [0, 40]; // a corner: turn left on the spot
  const right = laser.slice(0, 180); // -90 to 0 deg
  const distance = Math.min(...right);
  if (distance > LOST) return [SPEED / 2, -20]; // an outer corner, or no wall yet: curve to the right
  // The nearest reading of a wall is at a right angle to it. Parallel to the wall, it is the first one;
  // driving towards the wall, it is further ahead.
  const towards = right.indexOf(distance) / 2; // deg
  const turn = 0.8 * towards + (DISTANCE - distance) / 20;
  return [SPEED, Math.max(-20, Math.min(Math.round(turn), 40))];
}

const SIDE = 1000; // mm
const FAST = 200, TURN = 30; // mm/s, deg/s
const NEAR = 20, EXACT = 2; // mm, deg: there

// A Square drives a square by the odometry, to the left, from a pose on.
export class Square {
  constructor({ x, y, heading }) {
    Object.assign(this, { x, y, heading }); // of the corner where this side began
    this.turning = false;
    this.sides = 0; // that are done
  }

  get done() {
    return this.sides === 4 && !this.turning;
  }

  // steer returns the speed in mm/s and the turn rate in deg/s for a pose.
  steer({ x, y, heading }) {
    const wrong = ((((this.heading - heading + 180) % 360) + 360) % 360) - 180; // deg to turn to the left
    if (this.turning) {
      if (Math.abs(wrong) > EXACT) return [0, limited(wrong, TURN)];
      Object.assign(this, { turning: false, x, y });
    }
    const left = SIDE - Math.hypot(x - this.x, y - this.y); // mm
    if (left > NEAR) return [limited(left, FAST), limited(wrong, TURN)];
    Object.assign(this, { sides: this.sides + 1, turning: true, heading: (this.heading + 90) % 360 });
    return [0, 0];
  }
}

// limited returns a speed that falls towards the end of the way, so that the robot does not drive too far.
const limited = (value, most) => Math.round(Math.max(-most, Math.min(most, value)));
