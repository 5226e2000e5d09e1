/* Prints the reports of every device of a complete robot while the robot stands. */
#include "device.h"

int main(int argc, char *argv[]) {
  (void)argc;
  double min_angle, max_angle, resolution, range_res, frequency, positive = 0;
  unsigned char intensity;
  int i;
  playerc_client_t *client = connected(argv);
  DEVICE(position2d, position2d, client, 0);
  DEVICE(laser, laser, client, 0);
  DEVICE(sonar, sonar, client, 0);
  DEVICE(ranger, ring, client, 0);
  DEVICE(ranger, ranger, client, 1);
  DEVICE(blobfinder, bf, client, 0);
  DEVICE(gripper, gripper, client, 0);
  DEVICE(bumper, bumper, client, 0);
  DEVICE(power, power, client, 0);
  DEVICE(ptz, ptz, client, 0);
  double(*scan)[2] = laser->scan; /* programs take the address once, and go through the pairs as one list of numbers */

  for (i = 0; i < 2 * 512; i++) positive += ((double *)scan)[i] >= 0;
  printf("room %g\n", positive);
  printf("set %d %d %d %d\n", playerc_client_datamode(client, PLAYERC_DATAMODE_PULL), playerc_client_set_replace_rule(client, -1, -1, PLAYER_MSGTYPE_DATA, -1, 1),
         playerc_client_requestdata(client), playerc_laser_set_config(laser, -1, 1, 0.01, 0.001, 0, 10));
  printf("power_config %d\n", playerc_ranger_power_config(ring, 1));
  playerc_position2d_get_geom(position2d);
  playerc_laser_get_geom(laser);
  playerc_sonar_get_geom(sonar);
  playerc_ranger_get_geom(ranger);
  playerc_gripper_get_geom(gripper);
  printf("before %d %d %u %u\n", laser->scan_count, sonar->scan_count, bf->blobs_count, ring->ranges_count);
  printf("empty %g %g\n", laser->scan[500][0], sonar->scan[3]);
  rounds(client, 1);
  printf("position %g %g %g %g %g %d\n", position2d->px, position2d->py, position2d->pa, position2d->vx, position2d->va, position2d->stall);
  printf("size %g %g %g\n", position2d->size[0], position2d->size[1], position2d->pose[0]);
  printf("laser %d %g %g %g %g\n", laser->scan_count, laser->scan[0][0], laser->scan[180][0], laser->ranges[360], laser->max_range);
  printf("bearing %g %g %g %g\n", laser->scan[0][1], laser->scan[180][1], laser->scan[360][1], laser->scan_res);
  printf("scan %d %g %g\n", scan == laser->scan, ((double *)scan)[2 * 180], ((double *)scan)[2 * 360 + 1]);
  playerc_laser_get_config(laser, &min_angle, &max_angle, &resolution, &range_res, &intensity, &frequency);
  printf("config %g %g\n", min_angle, max_angle);
  printf("resolution %g\n", resolution);
  printf("halves %g %g\n", laser->min_left, laser->min_right);
  printf("point %g %g\n", laser->point[180].px, laser->point[360].py);
  printf("sonar %d %g %g %d %g\n", sonar->scan_count, sonar->scan[0], sonar->scan[4], sonar->pose_count, sonar->poses[0].pyaw);
  printf("ring %u %u %g\n", ring->ranges_count, ring->element_count, ring->ranges[0]);
  playerc_ranger_get_config(ranger, &min_angle, &max_angle, NULL, NULL, NULL, NULL, NULL);
  printf("ranger %u %g %g\n", ranger->ranges_count, ranger->ranges[180], ranger->max_range);
  printf("angle %g %g %g %g\n", min_angle, max_angle, ranger->angular_res, ring->element_poses[3].pyaw);
  printf("bumper %d %d %d\n", bumper->bumper_count, bumper->bumpers[0], bumper->bumpers[1]);
  printf("power %g %g\n", power->charge, power->percent);
  printf("gripper %d %u\n", gripper->state, gripper->beams);
  playerc_gripper_printout(gripper, "printed");
  printf("ptz %g %g %g\n", ptz->pan, ptz->tilt, ptz->zoom);
  printf("blobs %u %u %u %u\n", bf->blobs_count, bf->width, bf->height, bf->blobs[0].color);
  printf("blob %g\n", bf->blobs[0].range);
  printf("macros %g %g %g %d\n", RTOD(M_PI), DTOR(180), NORMALIZE(3 * M_PI / 2), MIN(1, 2));
  return 0;
}
