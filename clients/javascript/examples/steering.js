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
