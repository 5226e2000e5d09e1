/* SPDX-License-Identifier: Apache-2.0
 *
 * Goto drives to a point around obstacles: the server has the planner (docs/GOTO.md), and is
 * started with -goto. Arguments: [host [port [rounds [x y]]]], x and y in metres from where
 * the odometry began.
 */
#include "arguments.h"

#include <time.h>

int main(int argc, char **argv) {
  int rounds;
  player_client *robot = start(argc, argv, &rounds);
  player_goal goal = {1500, 1000, PLAYER_ANY_HEADING, 0, 0, 0, 0, 0}; /* mm; the limits are the device's */
  player_goto drive = {0, 0, 0, 0, 0, 0, 0};
  const char device = opened(robot, argv, "goto", 'a');
  player_result r = player_bind_goto(robot, device, &drive);
  if (argc > 5) {
    goal.x = (int32_t)(1000 * atof(argv[4]));
    goal.y = (int32_t)(1000 * atof(argv[5]));
  }
  goal.tag = (uint16_t)time(NULL);
  while (r == PLAYER_OK && rounds-- > 0 && !interrupted) {
    r = player_set_goal(robot, device, &goal); /* repeated: the command lifetime of a second ends it otherwise */
    if (r == PLAYER_OK) r = player_read(robot, 5000);
    if (r != PLAYER_OK || !player_has(robot, device) || drive.tag != goal.tag) continue;
    if (drive.state == PLAYER_GOTO_ARRIVED) {
      printf("arrived\n");
      break;
    }
    if (drive.state == PLAYER_GOTO_STOPPED) {
      printf("given up: %s\n", player_goto_reason(drive.reason));
      break;
    }
    printf("%lu mm to go\n", (unsigned long)drive.distance);
  }
  if (r != PLAYER_OK) fprintf(stderr, "%s: %s\n", argv[0], player_error(robot));
  player_destroy(robot); /* a goal ends with its client */
  return r != PLAYER_OK;
}
