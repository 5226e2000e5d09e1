/* Two proxies of one device. */
#include <libplayerc/playerc.h>
#include <stdio.h>
#include <stdlib.h>

static playerc_client_t *client;

static void rounds(int n) {
  while (n-- > 0)
    if (!playerc_client_read(client)) printf("lost %s\n", playerc_error_str());
}

int main(int argc, char **argv) {
  playerc_position2d_t *one, *other;

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

  playerc_client_disconnect(client);
  return 0;
}
