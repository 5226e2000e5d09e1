// The shape of the Pioneer 2-DX, for robots that are not simulated: metres and
// radians in the robot's frame, x ahead, y to the left. The simulator sends the
// shapes of its robots.

import { rad } from "./wire.js";

const at = (x, y, deg) => ({ X: x, Y: y, Heading: rad(deg) });
const mirrored = (list) => [...list, ...[...list].reverse().map((p) => ({ X: p.X, Y: -p.Y, Heading: -p.Heading }))];

const front = [at(0.069, 0.136, 90), at(0.114, 0.119, 50), at(0.148, 0.078, 30), at(0.166, 0.027, 10)];
const rear = [at(-0.157, -0.136, -90), at(-0.203, -0.119, -130), at(-0.237, -0.078, -150), at(-0.255, -0.027, -170)];

export const MOUNTS = {
  Laser: at(0.08, 0, 0),
  Camera: at(0.08, 0, 0),
  Sonars: [...mirrored(front), ...mirrored(rear)],
  SonarFOV: rad(15),
};

export const HULL = [
  [0.18, 0.08], [0.09, 0.19], [-0.17, 0.19], [-0.26, 0.08],
  [-0.26, -0.08], [-0.17, -0.19], [0.09, -0.19], [0.18, -0.08],
].map(([X, Y]) => ({ X, Y }));

// BUMPERS are the directions of the bumpers from CENTRE, lowest bit first.
export const BUMPERS = {
  front: [52, 19, 0, -19, -52].map(rad),
  rear: [-128, -161, 180, 161, 128].map(rad),
};
export const CENTRE = { X: -0.04, Y: 0 };

// fieldOfView returns the horizontal field of view of the Sony EVI-D30, radians;
// zoom is 0 to 1023.
export const fieldOfView = (zoom) => rad(48.8 + ((4.4 - 48.8) * zoom) / 1023);
