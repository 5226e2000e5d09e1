// Turns to a marked thing that the fiducial finder sees, and drives up to it.
#include <libplayerc/playerc.h>

int main(int argc, char *argv[]) {
  playerc_client_t *client = playerc_client_create(NULL, argv[1], atoi(argv[2]));
  playerc_position2d_t *wheels;
  playerc_fiducial_t *finder, *other;
  int i;

  if (playerc_client_connect(client)) return 1;
  wheels = playerc_position2d_create(client, 0);
  finder = playerc_fiducial_create(client, 0);
  if (playerc_position2d_subscribe(wheels, PLAYER_OPEN_MODE) || playerc_fiducial_subscribe(finder, PLAYER_OPEN_MODE)) {
    printf("%s\n", playerc_error_str());
    return 1;
  }
  playerc_fiducial_get_geom(finder);
  printf("geometry %g %g\n", finder->fiducial_geom.pose.px, finder->fiducial_geom.fiducial_size.sw);
  printf("before %d %d\n", finder->fiducials_count, finder->fiducials[0].id);
  playerc_client_read(client);
  printf("first %d %d %g %g\n", finder->fiducials_count, finder->fiducials[0].id, finder->fiducials[0].pose.px, finder->fiducials[0].pose.py);
  printf("fresh %d %d\n", finder->info.fresh, finder->info.datatime > 0);
  for (i = 0; i < 300; i++) {
    double bearing;
    if (playerc_client_read(client) == NULL) return 1;
    if (finder->fiducials_count == 0) break;
    bearing = atan2(finder->fiducials[0].pose.py, finder->fiducials[0].pose.px);
    if (hypot(finder->fiducials[0].pose.px, finder->fiducials[0].pose.py) < 0.8) break;
    playerc_position2d_set_cmd_vel(wheels, fabs(bearing) < 0.2 ? 0.3 : 0, 0, 1.5 * bearing, 1);
  }
  playerc_position2d_set_cmd_vel(wheels, 0, 0, 0, 1);
  for (i = 0; i < 10; i++) playerc_client_read(client);
  printf("last %g %d\n", hypot(finder->fiducials[0].pose.px, finder->fiducials[0].pose.py), finder->fiducials[9].id);
  other = playerc_fiducial_create(client, 300);
  printf("missing %d %s\n", playerc_fiducial_subscribe(other, PLAYERC_OPEN_MODE), playerc_error_str());
  playerc_fiducial_destroy(other);
  playerc_fiducial_unsubscribe(finder);
  playerc_fiducial_destroy(finder);
  playerc_position2d_destroy(wheels);
  playerc_client_disconnect(client);
  playerc_client_destroy(client);
  return 0;
}
