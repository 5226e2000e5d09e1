/* SPDX-License-Identifier: Apache-2.0
 *
 * Two drives two robots in one loop: both turn away from near things, and neither waits for
 * the other. In the end it prints how far each is from where its odometry began.
 * Arguments: [host [port [rounds [port]]]]; the second robot has the next port, or the last one.
 */
#define _POSIX_C_SOURCE 200809L /* poll */

#include "arguments.h"

#include <math.h>
#include <poll.h>

/* Drives a robot by its sensors. */
static player_result drive(player_client *robot, char sonars) {
  const uint16_t *sonar = player_get_sonar(robot);
  if (!player_has(robot, sonars)) return PLAYER_OK; /* the sonars have not fired yet */
  if (sonar[3] < 700 || sonar[4] < 700) return player_set_speed(robot, 0, 30);
  return player_set_speed(robot, 200, 0);
}

int main(int argc, char **argv) {
  int rounds, i;
  char second[16];
  char *next[] = {argv[0], argc > 1 ? argv[1] : (char *)"localhost", second, NULL};
  player_client *robots[2];
  char sonars[2];
  player_result r = PLAYER_OK;
  robots[0] = start(argc, argv, &rounds);
  snprintf(second, sizeof second, "%d", argc > 4 ? atoi(argv[4]) : player_port(robots[0]) + 1);
  robots[1] = start(3, next, &i);
  for (i = 0; i < 2; i++) {
    sonars[i] = opened(robots[i], argv, "sonar", 'r');
    opened(robots[i], argv, "position", 'a');
  }
  while (r == PLAYER_OK && rounds > 0 && !interrupted) {
    struct pollfd p[2];
    for (i = 0; i < 2; i++) {
      p[i].fd = player_descriptor(robots[i]);
      p[i].events = POLLIN;
    }
    if (poll(p, 2, 5000) <= 0) break;
    for (i = 0; i < 2 && r == PLAYER_OK; i++) {
      while ((r = player_read(robots[i], PLAYER_NO_WAIT)) == PLAYER_OK) {
        rounds -= i == 0;
        if ((r = drive(robots[i], sonars[i])) != PLAYER_OK) break;
      }
      if (r == PLAYER_TIMEOUT) r = PLAYER_OK; /* all that has come is read */
      else fprintf(stderr, "%s: robot %d: %s\n", argv[0], i, player_error(robots[i]));
    }
  }
  for (i = 0; i < 2; i++) {
    const player_position *at = player_get_position(robots[i]);
    printf("robot %d: %.0f mm\n", i, hypot(at->x, at->y));
    stop(robots[i], argv, PLAYER_OK);
  }
  return r != PLAYER_OK;
}
