/* SPDX-License-Identifier: Apache-2.0
 *
 * Watch prints what is new, with the age of each device's data when the server
 * sent it, and connects again when the server is gone. It never touches the
 * robot. Arguments: [host [port [rounds]]].
 */
#define _POSIX_C_SOURCE 200809L /* sleep */

#include "arguments.h"

#include <unistd.h>

static player_client robot;

static void print(char letter) {
  const player_client *c = &robot;
  uint64_t us = 0;
  if (!player_new(c, letter) || !player_has(c, letter)) return;
  player_age_us(c, letter, &us);
  printf("%10.3f s  %c, %5.1f ms old: ", (double)c->server_time_us / 1e6, letter, (double)us / 1e3);
  switch (letter) {
  case 'p':
    printf("x %ld y %ld heading %d speed %d turn rate %d\n", (long)c->position.x, (long)c->position.y,
           c->position.heading, c->position.speed, c->position.turnrate);
    break;
  case 's':
    printf("ahead %d left %d right %d\n", c->sonar[3], c->sonar[0], c->sonar[7]);
    break;
  case 'l':
    printf("right %d ahead %d left %d\n", c->laser[0], c->laser[180], c->laser[360]);
    break;
  case 'm':
    printf("battery %.1f V\n", c->misc.battery / 10.0);
    break;
  }
}

int main(int argc, char **argv) {
  const char *const devices = "pslm";
  int rounds = start(&robot, argc, argv, "yrprsrlrmr");
  player_result r = player_set_fresh(&robot, true);
  while (rounds-- > 0 && !interrupted) {
    const char *letter;
    r = player_read(&robot, 5000);
    if (r == PLAYER_CLOSED || r == PLAYER_TIMEOUT) {
      fprintf(stderr, "%s: %s, connecting again\n", argv[0], robot.error);
      if (player_reconnect(&robot, 5000) != PLAYER_OK) sleep(1);
      continue;
    }
    if (r != PLAYER_OK) break;
    for (letter = devices; *letter; letter++) print(*letter);
  }
  return stop(&robot, argv, r);
}
