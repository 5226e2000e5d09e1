/* Waits for two robots at once, and uses what other programs use seldom. */
#include <libplayerc/playerc.h>
#include <sys/resource.h>

static int calls;
static void called(void *data) { calls += *(int *)data; }

int main(int argc, char *argv[]) {
  playerc_mclient_t *both = playerc_mclient_create();
  playerc_client_t *one = playerc_client_create(NULL, argv[1], atoi(argv[2])), *other = playerc_client_create(NULL, argv[1], atoi(argv[2]) + 1);
  playerc_position2d_t *wheels;
  playerc_laser_t *laser, *second;
  playerc_ranger_t *ranger;
  playerc_gripper_t *gripper;
  double (*scan)[2];
  double flat = 0;
  int i, ten = 10;
  struct rlimit memory, least;

  playerc_mclient_addclient(both, one);
  playerc_mclient_addclient(both, other);
  playerc_client_set_transport(one, PLAYERC_TRANSPORT_TCP);
  if (playerc_client_connect(one) || playerc_client_connect(other)) return 1;
  wheels = playerc_position2d_create(one, 0);
  laser = playerc_laser_create(one, 0);
  ranger = playerc_ranger_create(one, 0);
  gripper = playerc_gripper_create(one, 0);
  second = playerc_laser_create(other, 0);
  if (playerc_position2d_subscribe(wheels, PLAYER_OPEN_MODE) || playerc_laser_subscribe(laser, PLAYER_OPEN_MODE) ||
      playerc_ranger_subscribe(ranger, PLAYER_OPEN_MODE) || playerc_gripper_subscribe(gripper, PLAYER_OPEN_MODE) ||
      playerc_laser_subscribe(second, PLAYER_OPEN_MODE))
    return 1;
  // Programs take the address once, and go through the pairs as one list of numbers.
  scan = laser->scan;
  for (i = 0; i < 2 * 512; i++) flat += ((double *)scan)[i] >= 0;
  printf("room %g\n", flat);
  printf("set %d %d %d\n", playerc_laser_set_config(laser, -1, 1, 0.01, 0.001, 0, 10), playerc_ranger_power_config(ranger, 1), playerc_client_requestdata(one));
  playerc_client_addcallback(one, &laser->info, called, &ten);
  for (i = 0; i < 20; i++) {
    while (!playerc_mclient_peek(both, 20)) continue;
    if (playerc_mclient_read(both, 1000) < 0) return 1;
  }
  while (!playerc_client_peek(one, 20)) continue;
  printf("read %d %d\n", calls >= 10, second->scan_count);
  printf("scan %d %g %g\n", scan == laser->scan, ((double *)scan)[2 * 180], ((double *)scan)[2 * 360 + 1]);
  calls = 0;
  playerc_client_delcallback(one, &laser->info, called, &ten);
  playerc_client_read(one);
  printf("deleted %d\n", calls);
  printf("gripper %d %d %d\n", playerc_gripper_store_cmd(gripper), playerc_gripper_retrieve_cmd(gripper), playerc_gripper_stop_cmd(gripper));
  printf("laser %g\n", laser->max_range);
  getrlimit(RLIMIT_AS, &memory);
  least = memory;
  least.rlim_cur = 1; // byte: what is mapped stays
  setrlimit(RLIMIT_AS, &least);
  while (playerc_blobfinder_create(one, 0)) continue;
  setrlimit(RLIMIT_AS, &memory);
  printf("memory %s\n", playerc_error_str());
  playerc_client_disconnect(one);
  playerc_client_disconnect(other);
  playerc_mclient_destroy(both);
  return 0;
}
