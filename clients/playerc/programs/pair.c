/* Two clients that are read together, and the commands of C that others do not use. */
#include <libplayerc/playerc.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

int main(int argc, char **argv) {
  playerc_client_t *clients[2];
  playerc_position2d_t *wheels[2];
  playerc_mclient_t *both = playerc_mclient_create();
  playerc_laser_t *laser;
  playerc_gripper_t *gripper;
  playerc_simulation_t *sim;
  double min, max, res, range_res, frequency, x, y, a;
  unsigned char intensity;
  float colour[4] = {0, 0, 0, 0};
  int i;

  for (i = 0; i < 2; i++) {
    clients[i] = playerc_client_create(both, argv[1], atoi(argv[2]) + i);
    if (playerc_client_connect(clients[i]) != 0) return printf("refused %s\n", playerc_error_str());
    playerc_client_set_request_timeout(clients[i], 20);
    wheels[i] = playerc_position2d_create(clients[i], 0);
    if (playerc_position2d_subscribe(wheels[i], PLAYER_OPEN_MODE)) return printf("missing %s\n", playerc_error_str());
  }
  laser = playerc_laser_create(clients[0], 0);
  gripper = playerc_gripper_create(clients[0], 0);
  sim = playerc_simulation_create(clients[0], 0);
  if (playerc_laser_subscribe(laser, PLAYER_OPEN_MODE) || playerc_gripper_subscribe(gripper, PLAYER_OPEN_MODE) || playerc_simulation_subscribe(sim, PLAYER_OPEN_MODE))
    return printf("missing %s\n", playerc_error_str());

  for (i = 0; i < 30; i++) {
    if (playerc_mclient_read(both, 1000) < 0) return printf("lost %s\n", playerc_error_str());
    playerc_position2d_set_cmd_car(wheels[0], 0.2, 0);
    playerc_position2d_set_cmd_vel_head(wheels[1], 0.1, 0, 0, 1);
  }
  printf("both %f %f\n", wheels[0]->px, wheels[1]->px);
  playerc_laser_get_config(laser, &min, &max, &res, &range_res, &intensity, &frequency);
  printf("config %f %f %f\n", min, max, res);
  printf("store %d %d\n", playerc_gripper_store_cmd(gripper), playerc_gripper_stop_cmd(gripper));
  printf("property %d %d\n", playerc_simulation_get_property(sim, "r0", "color", colour, sizeof colour), playerc_simulation_set_property(sim, "r0", "color", colour, sizeof colour));
  playerc_position2d_set_cmd_vel(wheels[1], 0, 0, 0, 1);
  playerc_position2d_set_cmd_pose(wheels[0], 1.5, 0.8, 0, 1);
  for (i = 0; i < 150; i++)
    if (playerc_mclient_read(both, 1000) < 0) return printf("lost %s\n", playerc_error_str());
  printf("pose %f %f %f\n", wheels[0]->px, wheels[0]->py, wheels[0]->pa);
  playerc_simulation_get_pose2d(sim, "r0", &x, &y, &a);
  printf("truth %f %f\n", x, y);
  for (i = 0; i < 2; i++) {
    playerc_position2d_unsubscribe(wheels[i]);
    playerc_position2d_destroy(wheels[i]);
    playerc_client_disconnect(clients[i]);
    playerc_client_destroy(clients[i]);
  }
  playerc_mclient_destroy(both);
  return 0;
}
