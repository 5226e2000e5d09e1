/* Drives in every way that the wheels have, with two proxies of one device. */
#include "device.h"

static int calls;
static void called(void *data) { calls += *(int *)data; }

static void pose(const char *name, playerc_position2d_t *wheels) {
  printf("%s %g %g %g %g %g\n", name, wheels->px, wheels->py, wheels->pa, wheels->vx, wheels->va);
}

int main(int argc, char **argv) {
  (void)argc;
  int ten = 10;
  double x, y, a;
  playerc_client_t *client = connected(argv);
  DEVICE(position2d, one, client, 0);
  DEVICE(position2d, other, client, 0);
  DEVICE(simulation, sim, client, 0);

  playerc_position2d_enable(one, 1);
  playerc_client_addcallback(client, &one->info, called, &ten);
  playerc_position2d_set_cmd_vel(one, 0.2, 0, 0, 1);
  rounds(client, 30);
  pose("ahead", one);
  printf("calls %d %d\n", calls, one->info.fresh);
  playerc_client_delcallback(client, &one->info, called, &ten);
  playerc_position2d_set_cmd_car(one, 0.2, 0.3);
  rounds(client, 20);
  printf("curve %g %g %d\n", one->vx, one->va, calls - 300);
  playerc_position2d_set_cmd_vel(one, 0.2, 0, 0.1, 0);
  rounds(client, 10);
  pose("stands", one);
  playerc_position2d_set_cmd_vel_head(one, 0, 0, -M_PI / 2, 1);
  rounds(client, 60);
  pose("head", one);
  playerc_position2d_set_cmd_vel(one, 0, 0, DTOR(40.0), 1);
  rounds(client, 10);
  printf("turned %g\n", one->va);
  playerc_position2d_set_cmd_vel_head(one, 0, 0, -M_PI / 2, 1);
  rounds(client, 60);
  playerc_position2d_set_odom(one, 2, 3, M_PI / 2);
  playerc_position2d_set_cmd_vel(one, 0.2, 0, 0, 1);
  rounds(client, 30);
  playerc_position2d_set_cmd_vel(one, 0, 0, 0, 1);
  rounds(client, 10);
  pose("driven", one);
  playerc_position2d_set_cmd_pose(one, 2.8, 3.2, M_PI, 1);
  rounds(client, 200);
  pose("there", one);
  playerc_simulation_get_pose2d(sim, "r0", &x, &y, &a);
  printf("truth %g %g %g\n", x, y, a);

  /* The newest command counts, whichever proxy it comes from. */
  playerc_position2d_set_cmd_pose(one, 0, 3.2, M_PI, 1);
  rounds(client, 15);
  printf("both %g %g\n", one->vx, other->vx);
  playerc_position2d_set_cmd_vel(other, 0, 0, 0, 1);
  rounds(client, 15);
  printf("ended %g %g\n", one->vx, one->va);
  /* A goal ends with its proxy. */
  playerc_position2d_set_cmd_vel_head(one, 0.2, 0, 0, 1);
  rounds(client, 15);
  printf("heads %g\n", other->vx);
  playerc_position2d_unsubscribe(one);
  rounds(client, 15);
  printf("left %g %g\n", other->vx, other->va);
  playerc_position2d_destroy(one);
  return 0;
}
