/* Drives to a marked thing that the fiducial finder sees, fetches a puck with the gripper, and puts things elsewhere. */
#include "device.h"

static playerc_simulation_t *world;

static void where(const char *name, char *thing) {
  double x, y, a;
  int result = playerc_simulation_get_pose2d(world, thing, &x, &y, &a);
  printf("%s %g %g %g %d\n", name, x, y, a, result);
}

int main(int argc, char *argv[]) {
  (void)argc;
  float colour[4] = {0, 0, 0, 0};
  double x, y, a, bearing;
  int i;
  playerc_client_t *client = connected(argv);
  DEVICE(position2d, wheels, client, 0);
  DEVICE(fiducial, finder, client, 0);
  DEVICE(gripper, gripper, client, 0);
  DEVICE(ptz, ptz, client, 0);
  DEVICE(simulation, sim, client, 0);
  world = sim;

  playerc_fiducial_get_geom(finder);
  printf("geometry %g %g\n", finder->fiducial_geom.pose.px, finder->fiducial_geom.fiducial_size.sw);
  printf("before %d %d\n", finder->fiducials_count, finder->fiducials[0].id);
  rounds(client, 1);
  printf("first %d %d %g %g %d\n", finder->fiducials_count, finder->fiducials[0].id, finder->fiducials[0].pose.px, finder->fiducials[0].pose.py, finder->fiducials[9].id);
  printf("fresh %d %d\n", finder->info.fresh, finder->info.datatime > 0);
  for (i = 0; i < 300 && finder->fiducials_count > 0; i++) {
    bearing = atan2(finder->fiducials[0].pose.py, finder->fiducials[0].pose.px);
    if (hypot(finder->fiducials[0].pose.px, finder->fiducials[0].pose.py) < 0.8) break;
    playerc_position2d_set_cmd_vel(wheels, fabs(bearing) < 0.2 ? 0.3 : 0, 0, 1.5 * bearing, 1);
    rounds(client, 1);
  }
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  rounds(client, 10);
  printf("post %g\n", hypot(finder->fiducials[0].pose.px, finder->fiducials[0].pose.py));
  where("there", "r0");
  playerc_fiducial_unsubscribe(finder);
  playerc_fiducial_destroy(finder);

  playerc_simulation_set_pose2d(sim, "r0", -1, 1.5, -M_PI / 2);
  where("moved", "r0");
  playerc_simulation_set_pose2d(sim, "r0", -2, 0, 0);
  playerc_simulation_set_pose2d(sim, "puck", -1, 0, 0);
  playerc_gripper_open_cmd(gripper);
  playerc_ptz_set(ptz, M_PI / 4, DTOR(-10), 0.3);
  rounds(client, 60);
  printf("ptz %g %g %g %d\n", ptz->pan, ptz->tilt, ptz->zoom, ptz->status);
  printf("open %d %u\n", gripper->state == PLAYER_GRIPPER_STATE_OPEN, gripper->beams);
  for (i = 0; i < 300 && !(gripper->beams & 2); i++) {
    playerc_position2d_set_cmd_vel(wheels, 0.1, 0, 0, 1);
    rounds(client, 1);
  }
  printf("inner %u\n", gripper->beams & 2);
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  playerc_gripper_close_cmd(gripper);
  rounds(client, 30);
  printf("closed %d %d\n", gripper->state == PLAYER_GRIPPER_STATE_CLOSED, gripper->beams != 0);
  where("fetched", "puck");
  playerc_position2d_set_cmd_vel(wheels, -0.2, 0, 0, 1);
  rounds(client, 30);
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  rounds(client, 10);
  where("carried", "puck");
  printf("gripper %d %d %d %d\n", playerc_gripper_open_cmd(gripper), playerc_gripper_store_cmd(gripper), playerc_gripper_retrieve_cmd(gripper),
         playerc_gripper_stop_cmd(gripper));
  playerc_simulation_set_pose2d(sim, "yellow", -100, -100, 0);
  where("taken", "yellow");
  printf("unknown %d %s\n", playerc_simulation_get_pose2d(sim, "nobody", &x, &y, &a), playerc_error_str());
  printf("property %d %d\n", playerc_simulation_get_property(sim, "r0", "color", colour, sizeof colour),
         playerc_simulation_set_property(sim, "r0", "color", colour, sizeof colour));
  return 0;
}
