/* Reads many robots in one thread, for the benchmarks (docs/CLIENTS.md). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "player.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
  RATE = 50,      /* Hz */
  LIMIT = 10000   /* ms for each call that waits */
};

static int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void fail(const player_client *robot) {
  fprintf(stderr, "port %d: %s\n", player_port(robot), player_error(robot));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: speed HOST PORT COUNT WARMUP SECONDS\n");
    return 2;
  }
  int port = atoi(argv[2]), count = atoi(argv[3]);
  double warmup = atof(argv[4]), seconds = atof(argv[5]);
  player_client **robots = calloc((size_t)count, sizeof(player_client *));
  struct pollfd *sockets = calloc((size_t)count, sizeof *sockets);
  int64_t *last = calloc((size_t)count, sizeof *last);
  size_t frames = 0, room = 2 * RATE * (size_t)count * (size_t)(seconds + 1);
  int64_t *intervals = calloc(room, sizeof *intervals);
  if (!robots || !sockets || !last || !intervals) exit(1);
  for (int i = 0; i < count; i++) {
    player_client *robot = robots[i] = player_create();
    if (!robot) exit(1);
    if (player_connect(robot, argv[1], port + i, LIMIT) || player_set_frequency(robot, RATE) || player_request(robot, "lrsrprgrmrvrzr", LIMIT)) fail(robot);
    sockets[i].fd = player_descriptor(robot);
    sockets[i].events = POLLIN;
  }
  int64_t begin = now_us() + (int64_t)(warmup * 1e6), end = begin + (int64_t)(seconds * 1e6);
  bool begun = false;
  for (int64_t now = now_us(); now < end; now = now_us()) {
    if (!begun && now >= begin) {
      begun = true;
      puts("begin");
      fflush(stdout);
    }
    if (poll(sockets, (nfds_t)count, (int)(((begun ? end : begin) - now) / 1000 + 1)) < 0 && errno != EINTR) {
      perror("poll");
      exit(1);
    }
    for (int i = 0; i < count; i++) {
      player_result r;
      if (!sockets[i].revents) continue;
      while ((r = player_read(robots[i], PLAYER_NO_WAIT)) == PLAYER_OK) {
        int64_t at = now_us();
        if (begun && last[i] && at < end && frames < room) intervals[frames++] = at - last[i];
        last[i] = at;
      }
      if (r != PLAYER_TIMEOUT) fail(robots[i]);
    }
  }
  puts("end");
  fflush(stdout);
  while (getchar() != EOF) continue;
  qsort(intervals, frames, sizeof *intervals, ascending);
  if (frames == 0) intervals[0] = 0;
  printf("{\"runtime\":\"cc %s\",\"frames\":%zu,\"p50_us\":%lld,\"p99_us\":%lld,\"max_us\":%lld}\n", __VERSION__, frames,
         (long long)intervals[frames / 2], (long long)intervals[frames * 99 / 100], (long long)intervals[frames ? frames - 1 : 0]);
  for (int i = 0; i < count; i++) player_destroy(robots[i]);
  free(robots);
  free(sockets);
  free(last);
  free(intervals);
  return 0;
}
