/* SPDX-License-Identifier: Apache-2.0
 *
 * Avoid drives around obstacles with the sonars, as in appendix C of the Player
 * manual: the nearer an obstacle, the slower it drives; it turns towards the side
 * with more room; without room it backs off. Arguments: [host [port [rounds]]].
 */
#include "arguments.h"

/* Returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm,
   150 from 750 mm on. A sonar that has not fired yet reads 0; a side on which none
   has fired does not drive. */
static int push(const uint16_t *sonar, int n) {
  int nearest = 0, result;
  for (; n > 0; n--, sonar++)
    if (*sonar != 0 && (nearest == 0 || *sonar < nearest)) nearest = *sonar;
  result = 100 * nearest / 300 - 100;
  return nearest == 0 ? 0 : result < 150 ? result : 150;
}

int main(int argc, char **argv) {
  int rounds;
  player_client *robot = start(argc, argv, &rounds);
  const char sonars = opened(robot, argv, "sonar", 'r');
  const uint16_t *sonar = player_get_sonar(robot);
  player_result r = PLAYER_OK;
  opened(robot, argv, "position", 'w'); /* the wheels */
  while (rounds-- > 0 && !interrupted && (r = player_read(robot, 5000)) == PLAYER_OK) {
    /* Sonars 1 to 3 look ahead and to the left, 4 to 6 to the right. */
    int left = push(sonar + 1, 3), right = push(sonar + 4, 3);
    if (!player_has(robot, sonars)) continue; /* the sonars have not fired yet */
    /* Room on both sides adds up to speed, the difference to turning. */
    if ((r = player_set_speed(robot, left + right, left - right)) != PLAYER_OK) break;
  }
  return stop(robot, argv, r);
}
