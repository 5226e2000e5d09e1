/* SPDX-License-Identifier: Apache-2.0
 *
 * Square drives a square of a metre: ahead, and a quarter turn to the left, four times, by
 * its odometry. Arguments: [host [port [rounds]]].
 */
#include "arguments.h"

#include <math.h>

enum {
  SIDE = 1000, /* mm */
  CORNER = 90, /* degrees */
  SPEED = 200, /* mm/s */
  TURN = 20,   /* deg/s */
  SLOW = 5     /* deg/s, near the end of a turn */
};

int main(int argc, char **argv) {
  int rounds, sides = 0, turned = 0; /* degrees since the corner began */
  player_client *robot = start(argc, argv, &rounds);
  const char wheels = opened(robot, argv, "position", 'a'); /* to be read, and written */
  const player_position *p = player_get_position(robot);
  player_position before = {0, 0, 0, 0, 0, 0, 0, 0}, corner = before;
  bool begun = false, turning = false;
  player_result r = PLAYER_OK;
  while (sides < 4 && rounds-- > 0 && !interrupted && (r = player_read(robot, 5000)) == PLAYER_OK) {
    if (!player_has(robot, wheels)) continue;
    if (!begun) before = corner = *p;
    begun = true;
    if (!turning && hypot(p->x - corner.x, p->y - corner.y) >= SIDE) {
      turning = true;
      turned = 0;
    } else if (turning) {
      turned += (p->heading - before.heading + 540) % 360 - 180; /* also over 359 */
      if (turned >= CORNER - 1) {
        turning = false;
        corner = *p;
        printf("corner %d at %ld %ld\n", ++sides, (long)p->x, (long)p->y);
      }
    }
    before = *p;
    r = turning ? player_set_speed(robot, 0, turned < CORNER - TURN ? TURN : SLOW) : player_set_speed(robot, SPEED, 0);
    if (r != PLAYER_OK) break;
  }
  return stop(robot, argv, r);
}
