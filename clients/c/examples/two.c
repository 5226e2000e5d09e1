/* SPDX-License-Identifier: Apache-2.0
 *
 * Two drives two robots, one port each: both turn away from what is near, and neither waits
 * for the other. Arguments: [host [port [rounds]]]; the second robot has the next port.
 */
#define _POSIX_C_SOURCE 200809L /* poll */

#include "arguments.h"

#include <poll.h>

/* Drives a robot by what it sees. */
static player_result drive(player_client *robot) {
  const uint16_t *sonar = player_get_sonar(robot);
  if (!player_has(robot, 's')) return PLAYER_OK; /* the sonars have not fired yet */
  if (sonar[3] < 700 || sonar[4] < 700) return player_set_speed(robot, 0, 30);
  return player_set_speed(robot, 200, 0);
}

int main(int argc, char **argv) {
  int rounds, i;
  player_client *robots[2];
  player_result r = PLAYER_OK;
  char second[16];
  char *next[4];
  robots[0] = start(argc, argv, "srpw", &rounds);
  snprintf(second, sizeof second, "%d", player_port(robots[0]) + 1);
  next[0] = argv[0];
  next[1] = argc > 1 ? argv[1] : (char *)"localhost";
  next[2] = second;
  next[3] = NULL;
  robots[1] = start(3, next, "srpw", &i);
  while (r == PLAYER_OK && rounds > 0 && !interrupted) {
    struct pollfd p[2] = {{player_descriptor(robots[0]), POLLIN, 0}, {player_descriptor(robots[1]), POLLIN, 0}};
    if (poll(p, 2, 5000) <= 0) break;
    for (i = 0; i < 2 && r == PLAYER_OK; i++) {
      while ((r = player_read(robots[i], PLAYER_NO_WAIT)) == PLAYER_OK) {
        rounds -= i == 0;
        if ((r = drive(robots[i])) != PLAYER_OK) break;
      }
      if (r == PLAYER_TIMEOUT) r = PLAYER_OK; /* all that has come is read */
      else fprintf(stderr, "%s: robot %d: %s\n", argv[0], i, player_error(robots[i]));
    }
  }
  player_set_speed(robots[1], 0, 0);
  player_destroy(robots[1]);
  return stop(robots[0], argv, r);
}
