/* SPDX-License-Identifier: Apache-2.0
 *
 * Log writes where the robot is and the readings of its sonars, a line of comma-separated values
 * for each round. It never touches the robot: another program drives it.
 * Arguments: [host [port [rounds]]].
 */
#include "arguments.h"

int main(int argc, char **argv) {
  int rounds, i;
  player_client *robot = start(argc, argv, &rounds);
  const char wheels = opened(robot, argv, "position", 'r'), sonars = opened(robot, argv, "sonar", 'r');
  const player_position *p = player_get_position(robot);
  const uint16_t *sonar = player_get_sonar(robot);
  player_result r = PLAYER_OK;
  opened(robot, argv, "freshness", 'r'); /* the time of the server */
  printf("seconds,x_mm,y_mm,heading_deg");
  for (i = 0; i < PLAYER_SONARS; i++) printf(",sonar%d_mm", i);
  printf("\n");
  while (rounds > 0 && !interrupted && (r = player_read(robot, 5000)) == PLAYER_OK) {
    if (!player_has(robot, wheels) || !player_has(robot, sonars)) continue;
    rounds--;
    printf("%.3f,%ld,%ld,%d", (double)player_server_time_us(robot) / 1e6, (long)p->x, (long)p->y, p->heading);
    for (i = 0; i < PLAYER_SONARS; i++) printf(",%d", sonar[i]);
    printf("\n");
  }
  return stop(robot, argv, r);
}
