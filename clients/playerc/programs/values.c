/* Prints what the devices of a complete robot report. */
#include <stdio.h>
#include <libplayerc/playerc.h>

int main(int argc, const char **argv) {
  playerc_client_t *client;
  playerc_position2d_t *position2d;
  playerc_laser_t *laser;
  playerc_sonar_t *sonar;
  playerc_ranger_t *ranger0, *ranger1;
  playerc_blobfinder_t *bf;
  playerc_gripper_t *gripper;
  playerc_bumper_t *bumper;
  playerc_power_t *power;
  playerc_ptz_t *ptz;
  double min_angle, max_angle;
  int i;

  // Create a client object and connect to the server; the server must be running.
  client = playerc_client_create(NULL, argv[1], atoi(argv[2]));
  if (playerc_client_connect(client) != 0) {
    fprintf(stderr, "error: %s\n", playerc_error_str());
    return -1;
  }
  playerc_client_datamode(client, PLAYERC_DATAMODE_PULL);
  playerc_client_set_replace_rule(client, -1, -1, PLAYER_MSGTYPE_DATA, -1, 1);

  position2d = playerc_position2d_create(client, 0);
  laser = playerc_laser_create(client, 0);
  sonar = playerc_sonar_create(client, 0);
  ranger0 = playerc_ranger_create(client, 0);
  ranger1 = playerc_ranger_create(client, 1);
  bf = playerc_blobfinder_create(client, 0);
  gripper = playerc_gripper_create(client, 0);
  bumper = playerc_bumper_create(client, 0);
  power = playerc_power_create(client, 0);
  ptz = playerc_ptz_create(client, 0);
  if (playerc_position2d_subscribe(position2d, PLAYER_OPEN_MODE) || playerc_laser_subscribe(laser, PLAYERC_OPEN_MODE) ||
      playerc_sonar_subscribe(sonar, PLAYERC_OPEN_MODE) || playerc_ranger_subscribe(ranger0, PLAYERC_OPEN_MODE) ||
      playerc_ranger_subscribe(ranger1, PLAYERC_OPEN_MODE) || playerc_blobfinder_subscribe(bf, PLAYERC_OPEN_MODE) ||
      playerc_gripper_subscribe(gripper, PLAYERC_OPEN_MODE) || playerc_bumper_subscribe(bumper, PLAYERC_OPEN_MODE) ||
      playerc_power_subscribe(power, PLAYERC_OPEN_MODE) || playerc_ptz_subscribe(ptz, PLAYERC_OPEN_MODE)) {
    fprintf(stderr, "%s\n", playerc_error_str());
    return -1;
  }
  playerc_position2d_get_geom(position2d);
  playerc_laser_get_geom(laser);
  playerc_sonar_get_geom(sonar);
  playerc_ranger_get_geom(ranger1);
  playerc_ranger_get_config(ranger1, &min_angle, &max_angle, NULL, NULL, NULL, NULL, NULL);
  playerc_gripper_get_geom(gripper);
  printf("before %d %g %d %u\n", laser->scan_count, laser->scan[500][0], sonar->scan_count, bf->blobs_count);

  // Give it something to do.
  playerc_position2d_enable(position2d, 1);
  for (i = 0; i < 5; i++) playerc_client_read(client);
  printf("size %g %g %g\n", position2d->size[0], position2d->size[1], position2d->pose[0]);
  printf("laser %d %g %g %g %g %g\n", laser->scan_count, laser->scan[0][0], laser->scan[180][0], laser->ranges[360], laser->scan[360][1], laser->max_range);
  printf("halves %g %g\n", laser->min_left, laser->min_right);
  printf("point %g %g\n", laser->point[180].px, laser->point[360].py);
  printf("sonar %d %g %g %d %g\n", sonar->scan_count, sonar->scan[0], sonar->scan[4], sonar->pose_count, sonar->poses[0].pyaw);
  printf("ranger0 %u %u %g\n", ranger0->ranges_count, ranger0->element_count, ranger0->ranges[0]);
  printf("ranger1 %u %g %g %g\n", ranger1->ranges_count, min_angle, max_angle, ranger1->ranges[180]);
  printf("blobs %u %u %u %x %g\n", bf->blobs_count, bf->width, bf->height, bf->blobs[0].color, bf->blobs[0].range);
  printf("gripper %d %u\n", gripper->state, gripper->beams);
  printf("bumper %d %d\n", bumper->bumper_count, bumper->bumpers[0]);
  printf("power %g %g\n", power->charge, power->percent);
  printf("macros %g %g %g %d\n", RTOD(M_PI), DTOR(180), NORMALIZE(3 * M_PI / 2), MIN(1, 2));
  playerc_gripper_printout(gripper, "printed");
  playerc_ptz_set(ptz, DTOR(30), 0, 0.5);
  playerc_position2d_set_cmd_vel(position2d, 0.2, 0, 0, 1);
  for (i = 0; i < 30; i++) playerc_client_read(client);
  printf("position %g %g %g %g %d\n", position2d->px, position2d->py, position2d->pa, position2d->vx, position2d->info.fresh);
  printf("ptz %g %g\n", ptz->pan, ptz->zoom);
  playerc_position2d_set_cmd_vel(position2d, 0, 0, DTOR(40.0), 1);
  for (i = 0; i < 30; i++) playerc_client_read(client);
  printf("turned %g\n", position2d->va);
  playerc_position2d_set_odom(position2d, 7, 8, 0);
  playerc_position2d_set_cmd_vel(position2d, 0, 0, 0, 0);
  for (i = 0; i < 10; i++) playerc_client_read(client);
  printf("odom %g %g\n", position2d->px, position2d->py);

  // Shutdown
  playerc_laser_unsubscribe(laser);
  playerc_position2d_unsubscribe(position2d);
  playerc_position2d_destroy(position2d);
  playerc_client_disconnect(client);
  playerc_client_destroy(client);
  playerc_laser_destroy(laser);
  return 0;
}
