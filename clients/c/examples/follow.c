/* SPDX-License-Identifier: Apache-2.0
 *
 * Follow drives along the wall on its right with the laser: it keeps 600 mm from
 * it, and turns left where something is ahead. Arguments: [host [port [rounds]]].
 */
#include "arguments.h"

enum {
  DISTANCE = 600, /* from the wall, mm */
  AHEAD = 900,    /* an obstacle ahead that is nearer is turned away from, mm */
  SPEED = 200,    /* mm/s */
  TURN = 30       /* the highest turn rate, deg/s */
};

/* Returns the nearest range between two directions: degrees, from 0 at the right
   to 180 at the left. */
static int nearest(const uint16_t *laser, int from, int to) {
  int i, mm = UINT16_MAX;
  for (i = 2 * from; i <= 2 * to; i++)
    if (laser[i] < mm) mm = laser[i];
  return mm;
}

int main(int argc, char **argv) {
  int rounds;
  player_client *robot = start(argc, argv, &rounds);
  const char scanner = opened(robot, argv, "laser", 'r');
  const uint16_t *laser = player_get_laser(robot);
  player_result r = PLAYER_OK;
  opened(robot, argv, "position", 'w'); /* the wheels */
  while (rounds-- > 0 && !interrupted && (r = player_read(robot, 5000)) == PLAYER_OK) {
    int turn, speed = SPEED;
    if (!player_has(robot, scanner)) continue; /* the laser has no scan yet */
    turn = (DISTANCE - nearest(laser, 0, 60)) / 15; /* 1 deg/s for each 15 mm, to the left if too near */
    if (turn > TURN) turn = TURN;
    if (turn < -TURN) turn = -TURN;
    if (nearest(laser, 60, 120) < AHEAD) {
      turn = TURN;
      speed = 0;
    }
    if ((r = player_set_speed(robot, speed, turn)) != PLAYER_OK) break;
  }
  return stop(robot, argv, r);
}
