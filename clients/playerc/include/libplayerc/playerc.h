/* SPDX-License-Identifier: Apache-2.0
 *
 * playerc.h has the types and constants that programs for Player 2 and 3 use. The
 * functions of libplayerc are not here yet: C programs use clients/c.
 *
 * Lengths are in metres, angles in radians.
 */
#ifndef PLAYERC_H
#define PLAYERC_H

/* Programs count on these. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifndef RTOD
#define RTOD(r) ((r) * 180 / M_PI)
#endif
#ifndef DTOR
#define DTOR(d) ((d) * M_PI / 180)
#endif
#ifndef NORMALIZE
#define NORMALIZE(z) atan2(sin(z), cos(z))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* ---- Constants ---- */

enum { PLAYER_OPEN_MODE = 1, PLAYER_CLOSE_MODE = 2, PLAYER_ERROR_MODE = 3 };
enum { PLAYERC_OPEN_MODE = PLAYER_OPEN_MODE, PLAYERC_CLOSE_MODE = PLAYER_CLOSE_MODE, PLAYERC_ERROR_MODE = PLAYER_ERROR_MODE };
enum { PLAYER_DATAMODE_PUSH = 1, PLAYER_DATAMODE_PULL = 2 };
enum { PLAYERC_DATAMODE_PUSH = PLAYER_DATAMODE_PUSH, PLAYERC_DATAMODE_PULL = PLAYER_DATAMODE_PULL };
enum { PLAYERC_TRANSPORT_TCP = 1, PLAYERC_TRANSPORT_UDP = 2 };

enum {
  PLAYER_MSGTYPE_DATA = 1,
  PLAYER_MSGTYPE_CMD = 2,
  PLAYER_MSGTYPE_REQ = 3,
  PLAYER_MSGTYPE_RESP_ACK = 4,
  PLAYER_MSGTYPE_SYNCH = 5,
  PLAYER_MSGTYPE_RESP_NACK = 6
};

enum { PLAYER_GRIPPER_STATE_OPEN = 1, PLAYER_GRIPPER_STATE_CLOSED = 2, PLAYER_GRIPPER_STATE_MOVING = 3, PLAYER_GRIPPER_STATE_ERROR = 4 };
enum { PLAYER_PTZ_VELOCITY_CONTROL = 0, PLAYER_PTZ_POSITION_CONTROL = 1 };

enum { /* interfaces */
  PLAYER_POWER_CODE = 2,
  PLAYER_GRIPPER_CODE = 3,
  PLAYER_POSITION2D_CODE = 4,
  PLAYER_SONAR_CODE = 5,
  PLAYER_LASER_CODE = 6,
  PLAYER_BLOBFINDER_CODE = 7,
  PLAYER_PTZ_CODE = 8,
  PLAYER_FIDUCIAL_CODE = 10,
  PLAYER_SPEECH_CODE = 12,
  PLAYER_BUMPER_CODE = 14,
  PLAYER_IR_CODE = 22,
  PLAYER_POSITION3D_CODE = 30,
  PLAYER_SIMULATION_CODE = 31,
  PLAYER_CAMERA_CODE = 40,
  PLAYER_MAP_CODE = 42,
  PLAYER_PLANNER_CODE = 44,
  PLAYER_LOCALIZE_CODE = 47,
  PLAYER_OPAQUE_CODE = 52,
  PLAYER_GRAPHICS2D_CODE = 54,
  PLAYER_RANGER_CODE = 62
};

/* ---- Types ---- */

typedef struct player_point_2d {
  double px, py;
} player_point_2d_t;

typedef struct player_point_3d {
  double px, py, pz;
} player_point_3d_t;

typedef struct player_pose2d {
  double px, py, pa;
} player_pose2d_t;

typedef struct player_pose3d {
  double px, py, pz, proll, ppitch, pyaw;
} player_pose3d_t;

typedef struct player_bbox2d {
  double sw, sl;
} player_bbox2d_t;

typedef struct player_bbox3d {
  double sw, sl, sh;
} player_bbox3d_t;

typedef struct player_color {
  uint8_t alpha, red, green, blue;
} player_color_t;

typedef struct player_blobfinder_blob {
  uint32_t id;    /* the channel */
  uint32_t color; /* 0x00RRGGBB */
  uint32_t area;  /* pixels */
  uint32_t x, y;  /* centre: pixels from the top left */
  uint32_t left, right, top, bottom;
  float range; /* 0: not known */
} player_blobfinder_blob_t;

typedef player_blobfinder_blob_t playerc_blobfinder_blob_t;

typedef struct player_blobfinder_data {
  uint32_t width, height;
  uint32_t blobs_count;
  player_blobfinder_blob_t *blobs;
} player_blobfinder_data_t;

typedef struct player_laser_data {
  float min_angle, max_angle, resolution, max_range;
  uint32_t ranges_count;
  float *ranges;
  uint32_t intensity_count;
  uint8_t *intensity;
  uint32_t id;
} player_laser_data_t;

typedef struct player_localize_hypoth {
  player_pose2d_t mean;
  double cov[3];
  double alpha;
} player_localize_hypoth_t;

typedef struct player_fiducial_item {
  int32_t id;
  player_pose3d_t pose, upose;
} player_fiducial_item_t;

#endif
