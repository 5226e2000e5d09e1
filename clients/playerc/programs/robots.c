/* Two robots that are read together, with clients that are given to the multiclient or made in it. */
#include "device.h"

int main(int argc, char *argv[]) {
  (void)argc;
  int i, peeked = 0;
  playerc_mclient_t *both = playerc_mclient_create();
  playerc_client_t *one = playerc_client_create(NULL, argv[1], atoi(argv[2])), *other = playerc_client_create(both, argv[1], atoi(argv[2]) + 1);

  playerc_mclient_addclient(both, one);
  playerc_client_set_transport(one, PLAYERC_TRANSPORT_TCP);
  playerc_client_set_request_timeout(other, 20);
  if (playerc_client_connect(one) || playerc_client_connect(other)) return printf("refused %s\n", playerc_error_str());
  DEVICE(position2d, wheels, one, 0);
  DEVICE(position2d, others, other, 0);
  DEVICE(laser, laser, other, 0);
  for (i = 0; i < 30; i++) {
    while (!playerc_mclient_peek(both, 20)) peeked++;
    if (playerc_mclient_read(both, 1000) < 0) return printf("lost %s\n", playerc_error_str());
    playerc_position2d_set_cmd_car(wheels, 0.2, 0);
    playerc_position2d_set_cmd_vel_head(others, 0.1, 0, 0, 1);
  }
  printf("both %g %g %d\n", wheels->px, others->px, laser->scan_count);
  while (!playerc_client_peek(one, 20)) peeked++;
  playerc_position2d_set_cmd_vel(others, 0, 0, 0, 1);
  playerc_position2d_set_cmd_pose(wheels, 1.5, 0.8, 0, 1);
  for (i = 0; i < 150; i++)
    if (playerc_mclient_read(both, 1000) < 0) return printf("lost %s\n", playerc_error_str());
  printf("pose %g %g %g\n", wheels->px, wheels->py, wheels->pa);
  playerc_client_disconnect(one);
  playerc_client_disconnect(other);
  playerc_client_destroy(one);
  playerc_mclient_destroy(both);
  return 0;
}
