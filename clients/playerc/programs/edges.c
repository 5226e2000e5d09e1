/* Two proxies of one device, connecting again, and a server that does not answer. */
#include <libplayerc/playerc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static playerc_client_t *client;

static void rounds(int n) {
  while (n-- > 0)
    if (!playerc_client_read(client)) printf("lost %s\n", playerc_error_str());
}

int main(int argc, char **argv) {
  playerc_position2d_t *one, *other;
  playerc_client_t *silent;
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  struct timespec begin, end;
  int listener, r;

  client = playerc_client_create(NULL, argv[1], atoi(argv[2]));
  if (playerc_client_connect(client) != 0) return printf("refused %s\n", playerc_error_str());
  one = playerc_position2d_create(client, 0);
  other = playerc_position2d_create(client, 0);
  if (playerc_position2d_subscribe(one, PLAYERC_OPEN_MODE) || playerc_position2d_subscribe(other, PLAYERC_OPEN_MODE))
    return printf("missing %s\n", playerc_error_str());

  /* The newest command counts, whichever proxy it comes from. */
  playerc_position2d_set_cmd_pose(one, 2, 0, 0, 1);
  rounds(15);
  printf("goes %f %f\n", one->vx, other->vx);
  playerc_position2d_set_cmd_vel(other, 0, 0, 0, 1);
  rounds(15);
  printf("stopped %f %f\n", one->vx, one->va);
  /* A goal ends with its proxy. */
  playerc_position2d_set_cmd_vel_head(one, 0.2, 0, 0, 1);
  rounds(15);
  printf("heads %f\n", other->vx);
  playerc_position2d_unsubscribe(one);
  rounds(15);
  printf("left %f %f\n", other->vx, other->va);

  /* A connection begins anew. */
  r = playerc_client_connect(client);
  printf("again %d %d\n", r, other->info.subscribed);
  printf("subscribed %d\n", playerc_position2d_subscribe(other, PLAYERC_OPEN_MODE));
  other->info.fresh = 0;
  rounds(5);
  r = playerc_position2d_set_cmd_vel(other, 0.1, 0, 0, 1);
  rounds(10);
  printf("data %d %d %f\n", other->info.fresh, r, other->vx);
  playerc_client_disconnect(client);

  /* The timeout is that of connecting, too. */
  listener = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size)) return 1;
  silent = playerc_client_create(NULL, "127.0.0.1", ntohs(address.sin_port));
  playerc_client_set_request_timeout(silent, 1);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  r = playerc_client_connect(silent);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("silent %d %ld\n", r, (long)(end.tv_sec - begin.tv_sec));
  return 0;
}
