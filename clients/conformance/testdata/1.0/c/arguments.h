/* SPDX-License-Identifier: Apache-2.0
 *
 * What the examples share: arguments [host [port [rounds]]], and Ctrl-C.
 */
#ifndef PLAYER_ARGUMENTS_H
#define PLAYER_ARGUMENTS_H

#include "../player.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t interrupted;

static inline void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* Connects as the arguments say, requests devices, and returns for how many
   rounds the program runs. It ends the program on an error. */
static inline int start(player_client *robot, int argc, char **argv, const char *pairs) {
  const char *host = argc > 1 ? argv[1] : "localhost";
  int port = argc > 2 ? atoi(argv[2]) : PLAYER_PORT;
  signal(SIGINT, interrupt);
  if (player_connect(robot, host, port, 5000) || player_request(robot, pairs, 30000) ||
      player_set_command_lifetime(robot, 1000)) { /* ms; then stop() stops nobody else's robot */
    fprintf(stderr, "%s: %s\n", argv[0], robot->error);
    exit(1);
  }
  return argc > 3 ? atoi(argv[3]) : 1000;
}

/* Stops the robot if this program drives it, ends the connection, and returns the program's exit code. */
static inline int stop(player_client *robot, char **argv, player_result r) {
  if (r != PLAYER_OK) fprintf(stderr, "%s: %s\n", argv[0], robot->error);
  if (player_access(robot, 'p') == 'w') player_set_speed(robot, 0, 0);
  player_close(robot);
  return r != PLAYER_OK;
}

#endif
