/* SPDX-License-Identifier: Apache-2.0
 *
 * Hello is the first program of the Player manual (appendix A): the robot drives
 * around, turns away from the nearer obstacle, and stands still while something
 * is close ahead. Arguments: [host [port [rounds]]]. Ctrl-C stops it.
 */
#include "arguments.h"

int main(int argc, char **argv) {
  int rounds;
  player_client *robot = start(argc, argv, &rounds);
  const char sonars = opened(robot, argv, "sonar", 'r'); /* to be read */
  const uint16_t *sonar = player_get_sonar(robot);
  player_result r = PLAYER_OK;
  opened(robot, argv, "position", 'w'); /* the wheels, to be written */
  while (rounds-- > 0 && !interrupted && (r = player_read(robot, 5000)) == PLAYER_OK) {
    int i, turn, speed;
    if (!player_has(robot, sonars)) continue; /* the sonars have not fired yet */
    printf("sonar (mm)");
    for (i = 0; i < PLAYER_SONARS; i++) printf(" %d", sonar[i]);
    printf("\n");
    /* Sonars 0 and 1 look to the left, 6 and 7 to the right. */
    turn = sonar[0] + sonar[1] < sonar[6] + sonar[7] ? -20 : 20;
    speed = sonar[3] < 500 ? 0 : 100;
    if ((r = player_set_speed(robot, speed, turn)) != PLAYER_OK) break;
  }
  return stop(robot, argv, r);
}
