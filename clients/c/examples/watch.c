/* SPDX-License-Identifier: Apache-2.0
 *
 * Watch prints what is new, with the age of each device's data when the server
 * sent it, and connects again when the server is gone. It never touches the
 * robot. Arguments: [host [port [rounds]]].
 */
#define _POSIX_C_SOURCE 200809L /* sleep */

#include "arguments.h"

#include <unistd.h>

/* The devices that are watched. */
enum { POSITION, SONAR, LASER, MISC, DEVICES };
static const char *const names[DEVICES] = {"position", "sonar", "laser", "misc"};

static void print(const player_client *c, int which, char device) {
  const player_position *p = player_get_position(c);
  const uint16_t *sonar = player_get_sonar(c), *laser = player_get_laser(c);
  uint64_t us = 0;
  if (!player_new(c, device) || !player_has(c, device)) return;
  player_age_us(c, device, &us);
  printf("%10.3f s  %s, %5.1f ms old: ", (double)player_server_time_us(c) / 1e6, names[which], (double)us / 1e3);
  switch (which) {
  case POSITION:
    printf("x %ld y %ld heading %d speed %d turn rate %d\n", (long)p->x, (long)p->y, p->heading, p->speed,
           p->turnrate);
    break;
  case SONAR:
    printf("ahead %d left %d right %d\n", sonar[3], sonar[0], sonar[7]);
    break;
  case LASER:
    printf("right %d ahead %d left %d\n", laser[0], laser[180], laser[360]);
    break;
  case MISC:
    printf("battery %.1f V\n", player_get_misc(c)->battery / 10.0);
    break;
  }
}

int main(int argc, char **argv) {
  char devices[DEVICES];
  int rounds, i;
  player_client *robot = start(argc, argv, &rounds);
  player_result r;
  opened(robot, argv, "freshness", 'r'); /* ages, and the time of the server */
  for (i = 0; i < DEVICES; i++) devices[i] = opened(robot, argv, names[i], 'r');
  r = player_set_fresh(robot, true);
  while (rounds-- > 0 && !interrupted) {
    r = player_read(robot, 5000);
    if (r == PLAYER_CLOSED || r == PLAYER_TIMEOUT) {
      fprintf(stderr, "%s: %s, connecting again\n", argv[0], player_error(robot));
      if (player_reconnect(robot, 5000) != PLAYER_OK) sleep(1);
      continue;
    }
    if (r != PLAYER_OK) break;
    for (i = 0; i < DEVICES; i++) print(robot, i, devices[i]);
  }
  return stop(robot, argv, r);
}
