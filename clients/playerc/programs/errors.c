/* Meets the errors of C programs, connects again, and waits for a server that does not answer. */
#include "device.h"
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

int main(int argc, char *argv[]) {
  (void)argc;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  struct timespec begin, end;
  struct rlimit memory, least;
  int listener, r;
  playerc_client_t *client = playerc_client_create(0, argv[1], 1);
  playerc_position2d_t *wheels;
  playerc_laser_t *laser;
  playerc_fiducial_t *finder;

  printf("refused %d %s\n", playerc_client_connect(client), playerc_error_str());
  printf("unread %d\n", playerc_client_read(client) == NULL);
  playerc_client_destroy(client);
  client = connected(argv);
  laser = playerc_laser_create(client, 300);
  printf("laser %d %s\n", playerc_laser_subscribe(laser, PLAYERC_OPEN_MODE), playerc_error_str());
  playerc_laser_unsubscribe(laser);
  finder = playerc_fiducial_create(client, 300);
  printf("fiducial %d %s\n", playerc_fiducial_subscribe(finder, PLAYERC_OPEN_MODE), playerc_error_str());
  wheels = playerc_position2d_create(client, 0);
  printf("early %d %s\n", playerc_position2d_set_cmd_vel(wheels, 1, 0, 0, 1), playerc_error_str());
  if (playerc_position2d_subscribe(wheels, PLAYER_OPEN_MODE)) return 1;

  /* A connection begins anew. */
  r = playerc_client_connect(client);
  printf("again %d %d\n", r, wheels->info.subscribed);
  printf("subscribed %d\n", playerc_position2d_subscribe(wheels, PLAYERC_OPEN_MODE));
  wheels->info.fresh = 0;
  rounds(client, 5);
  r = playerc_position2d_set_cmd_vel(wheels, 0.1, 0, 0, 1);
  rounds(client, 10);
  printf("data %d %d %g\n", wheels->info.fresh, r, wheels->vx);

  getrlimit(RLIMIT_AS, &memory);
  least = memory;
  least.rlim_cur = 1; /* byte: pages that are mapped stay */
  setrlimit(RLIMIT_AS, &least);
  while (playerc_blobfinder_create(client, 0)) continue;
  setrlimit(RLIMIT_AS, &memory);
  printf("memory %s\n", playerc_error_str());

  playerc_client_destroy(client);
  playerc_laser_destroy(laser); /* programs destroy in any order */
  /* The time for a request also limits connecting. */
  listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size)) return 1;
  client = playerc_client_create(NULL, "127.0.0.1", ntohs(address.sin_port));
  playerc_client_set_request_timeout(client, 1);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  r = playerc_client_connect(client);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("silent %d %ld\n", r, (long)(end.tv_sec - begin.tv_sec));
  return 0;
}
