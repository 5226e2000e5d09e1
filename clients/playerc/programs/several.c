/* Reads a robot that has several of each. */
#include "device.h"

int main(int n, char *arguments[]) {
  playerc_client_t *client = connected(arguments);
  player_color_t red = {255, 255, 0, 0};
  player_point_2d_t points[2] = {{0, 0}, {1, 1}};
  (void)n;
  DEVICE(ranger, corners, client, 0);
  DEVICE(ranger, feeler, client, 1);
  DEVICE(ranger, scanner, client, 2);
  DEVICE(ranger, others, client, 3);
  DEVICE(blobfinder, ahead, client, 0);
  DEVICE(blobfinder, behind, client, 1);
  DEVICE(gripper, front, client, 0);
  DEVICE(gripper, rear, client, 1);
  DEVICE(graphics2d, graphics, client, 0);
  playerc_ranger_get_geom(corners);
  rounds(client, 2);
  printf("counts %u %u %u %u\n", corners->ranges_count, feeler->ranges_count, scanner->ranges_count, others->ranges_count);
  printf("sensors %u %u %u\n", corners->element_count, feeler->element_count, scanner->element_count);
  printf("corners %g %g %g %g\n", corners->ranges[0], corners->ranges[1], corners->ranges[2], corners->ranges[3]);
  printf("pose1 %g %g %g\n", corners->element_poses[1].px, corners->element_poses[1].py, corners->element_poses[1].pyaw);
  printf("feeler %g %g\n", feeler->ranges[90], feeler->max_range);
  printf("scanner %g %g %g %g %g %g %g %g\n", scanner->ranges[0], scanner->ranges[90], scanner->ranges[179], scanner->min_angle, scanner->max_angle, scanner->angular_res,
         scanner->device_pose.px, scanner->max_range);
  printf("points %u %g %g\n", corners->points_count, corners->points[1].px, corners->bearings[1]);
  printf("blobs %u %u\n", ahead->blobs_count, behind->blobs_count);
  printf("draw %d %d %d %d %d\n", playerc_graphics2d_setcolor(graphics, red), playerc_graphics2d_draw_points(graphics, points, 2),
         playerc_graphics2d_draw_polyline(graphics, points, 2), playerc_graphics2d_draw_polygon(graphics, points, 2, 1, red), playerc_graphics2d_clear(graphics));
  playerc_gripper_close_cmd(rear);
  rounds(client, 30);
  printf("hands %d %d\n", front->state, rear->state);
  return 0;
}
