/* SPDX-License-Identifier: Apache-2.0
 *
 * The common part of the examples: arguments [host [port [rounds]]], and Ctrl-C.
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

/* Connects as the arguments say, and sets for how many rounds the program runs. It ends the program on an error. */
static inline player_client *start(int argc, char **argv, int *rounds) {
  const char *host = argc > 1 ? argv[1] : "localhost";
  int port = argc > 2 ? atoi(argv[2]) : PLAYER_PORT;
  player_client *robot = player_create();
  signal(SIGINT, interrupt);
  *rounds = argc > 3 ? atoi(argv[3]) : 1000;
  /* A program that hangs does not leave the robot driving: it stops a second after the last command. */
  if (robot && player_connect(robot, host, port, 5000) == PLAYER_OK && player_set_command_lifetime(robot, 1000) == PLAYER_OK)
    return robot;
  fprintf(stderr, "%s: %s\n", argv[0], robot ? player_error(robot) : "no memory");
  player_destroy(robot);
  exit(1);
}

/* Opens a device by its name, and returns its byte for player_has and the other calls. It ends the program on an error. */
static inline char opened(player_client *robot, char **argv, const char *name, char access) {
  char device;
  if (player_open(robot, name, access, &device, 30000) == PLAYER_OK) return device;
  fprintf(stderr, "%s: %s\n", argv[0], player_error(robot));
  player_destroy(robot);
  exit(1);
}

/* Ends the connection, so that the server stops the wheels if this program drives them. It returns the program's exit code. */
static inline int stop(player_client *robot, char **argv, player_result r) {
  if (r != PLAYER_OK) fprintf(stderr, "%s: %s\n", argv[0], player_error(robot));
  player_destroy(robot);
  return r != PLAYER_OK;
}

#endif
