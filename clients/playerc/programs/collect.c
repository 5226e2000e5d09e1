// Puts a puck before the gripper, takes it, and meets the errors of C programs.
#include <libplayerc/playerc.h>

static int calls;
static void called(void *data) { calls += *(int *)data; }

int main(int argc, char *argv[]) {
  playerc_client_t *client, *nobody;
  playerc_position2d_t *wheels;
  playerc_gripper_t *gripper;
  playerc_simulation_t *sim;
  playerc_laser_t *missing;
  double x, y, a;
  int i, one = 1;

  nobody = playerc_client_create(0, argv[1], 1);
  printf("nobody %d %s\n", playerc_client_connect(nobody), playerc_error_str());
  printf("unread %d\n", playerc_client_read(nobody) == NULL);
  playerc_client_destroy(nobody);

  client = playerc_client_create(0, argv[1], atoi(argv[2]));
  if (playerc_client_connect(client)) exit(1);
  missing = playerc_laser_create(client, 300);
  printf("missing %d %s\n", playerc_laser_subscribe(missing, PLAYERC_OPEN_MODE), playerc_error_str());
  wheels = playerc_position2d_create(client, 0);
  printf("early %d %s\n", playerc_position2d_set_cmd_vel(wheels, 1, 0, 0, 1), playerc_error_str());
  if (playerc_position2d_subscribe(wheels, PLAYER_OPEN_MODE)) return 1;
  gripper = playerc_gripper_create(client, 0);
  if (playerc_gripper_subscribe(gripper, PLAYER_OPEN_MODE)) return 1;
  sim = playerc_simulation_create(client, 0);
  if (playerc_simulation_subscribe(sim, PLAYER_OPEN_MODE)) {
    printf("%s\n", playerc_error_str());
    return 1;
  }
  playerc_client_addcallback(client, &wheels->info, called, &one);
  playerc_simulation_set_pose2d(sim, "puck", -1, 0, 0);
  playerc_gripper_open_cmd(gripper);
  for (i = 0; i < 300 && !gripper->beams; i++) {
    if (playerc_client_read(client) == NULL) return 1;
    playerc_position2d_set_cmd_vel(wheels, 0.1, 0, 0, 1);
  }
  printf("calls %d\n", calls - i);
  for (i = 0; i < 5; i++) playerc_client_read(client);
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  playerc_gripper_close_cmd(gripper);
  for (i = 0; i < 30; i++) playerc_client_read(client);
  printf("closed %d\n", gripper->state == PLAYER_GRIPPER_STATE_CLOSED);
  playerc_position2d_set_cmd_vel(wheels, -0.2, 0, 0, 1);
  for (i = 0; i < 20; i++) playerc_client_read(client);
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  for (i = 0; i < 10; i++) playerc_client_read(client);
  if (playerc_simulation_get_pose2d(sim, "puck", &x, &y, &a) != 0) return 1;
  printf("puck %g %g\n", x, y);
  printf("unknown %d %s\n", playerc_simulation_get_pose2d(sim, "nobody", &x, &y, &a), playerc_error_str());
  playerc_client_disconnect(client);
  playerc_client_destroy(client);
  return 0;
}
