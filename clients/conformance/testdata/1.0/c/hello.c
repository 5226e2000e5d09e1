/* SPDX-License-Identifier: Apache-2.0
 *
 * Hello is the first program of the Player manual (appendix A): the robot drives
 * around, turns away from the nearer obstacle, and stands still while something
 * is close ahead. Arguments: [host [port [rounds]]]. Ctrl-C stops it.
 */
#include "arguments.h"

static player_client robot;

int main(int argc, char **argv) {
  int rounds = start(&robot, argc, argv, "srpw"); /* read the sonars, write the wheels */
  player_result r = PLAYER_OK;
  while (rounds-- > 0 && !interrupted && (r = player_read(&robot, 5000)) == PLAYER_OK) {
    int i, turn, speed;
    if (!player_has(&robot, 's')) continue; /* the sonars have not fired yet */
    printf("sonar (mm)");
    for (i = 0; i < PLAYER_SONARS; i++) printf(" %d", robot.sonar[i]);
    printf("\n");
    /* Sonars 0 and 1 look to the left, 6 and 7 to the right. */
    turn = robot.sonar[0] + robot.sonar[1] < robot.sonar[6] + robot.sonar[7] ? -20 : 20;
    speed = robot.sonar[3] < 500 ? 0 : 100;
    if ((r = player_set_speed(&robot, speed, turn)) != PLAYER_OK) break;
  }
  return stop(&robot, argv, r);
}
