/* SPDX-License-Identifier: Apache-2.0
 *
 * playerc.h lets C programs for Player 2 and 3 use this server: they compile and run
 * unchanged. It has the names, types and units of libplayerc.
 *
 * Lengths are in metres, angles in radians, speeds in m/s and rad/s. Functions return 0,
 * or -1 and playerc_error_str says why. ../../README.md says what is served.
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
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
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
enum { PLAYER_ACTARRAY_ACTSTATE_IDLE = 1, PLAYER_ACTARRAY_ACTSTATE_MOVING = 2, PLAYER_ACTARRAY_ACTSTATE_BRAKED = 3, PLAYER_ACTARRAY_ACTSTATE_STALLED = 4 };
enum { PLAYER_ACTARRAY_TYPE_LINEAR = 1, PLAYER_ACTARRAY_TYPE_ROTARY = 2 };
enum {
  PLAYERC_ACTARRAY_ACTSTATE_IDLE = PLAYER_ACTARRAY_ACTSTATE_IDLE,
  PLAYERC_ACTARRAY_ACTSTATE_MOVING = PLAYER_ACTARRAY_ACTSTATE_MOVING,
  PLAYERC_ACTARRAY_ACTSTATE_BRAKED = PLAYER_ACTARRAY_ACTSTATE_BRAKED,
  PLAYERC_ACTARRAY_ACTSTATE_STALLED = PLAYER_ACTARRAY_ACTSTATE_STALLED,
  PLAYERC_ACTARRAY_TYPE_LINEAR = PLAYER_ACTARRAY_TYPE_LINEAR,
  PLAYERC_ACTARRAY_TYPE_ROTARY = PLAYER_ACTARRAY_TYPE_ROTARY
};
enum { PLAYER_CAMERA_FORMAT_MONO8 = 1, PLAYER_CAMERA_FORMAT_MONO16 = 2, PLAYER_CAMERA_FORMAT_RGB565 = 4, PLAYER_CAMERA_FORMAT_RGB888 = 5 };
enum { PLAYER_CAMERA_COMPRESS_RAW = 0, PLAYER_CAMERA_COMPRESS_JPEG = 1 };
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
  PLAYER_GPS_CODE = 13,
  PLAYER_BUMPER_CODE = 14,
  PLAYER_DIO_CODE = 20,
  PLAYER_AIO_CODE = 21,
  PLAYER_IR_CODE = 22,
  PLAYER_POSITION3D_CODE = 30,
  PLAYER_SIMULATION_CODE = 31,
  PLAYER_CAMERA_CODE = 40,
  PLAYER_MAP_CODE = 42,
  PLAYER_PLANNER_CODE = 44,
  PLAYER_LOCALIZE_CODE = 47,
  PLAYER_OPAQUE_CODE = 52,
  PLAYER_ACTARRAY_CODE = 53,
  PLAYER_GRAPHICS2D_CODE = 54,
  PLAYER_RANGER_CODE = 62,
  PLAYER_IMU_CODE = 63
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

typedef struct player_orientation_3d {
  double proll, ppitch, pyaw;
} player_orientation_3d_t;

/* Speed, acceleration and current are not known: 0. */
typedef struct player_actarray_actuator {
  float position, speed, acceleration, current; /* rad or m */
  uint8_t state;                                /* PLAYER_ACTARRAY_ACTSTATE_IDLE ... */
} player_actarray_actuator_t;

typedef struct player_actarray_actuatorgeom {
  uint8_t type;                      /* PLAYER_ACTARRAY_TYPE_LINEAR or _ROTARY */
  float length;                      /* not known */
  player_orientation_3d_t orientation; /* not known */
  player_point_3d_t axis;            /* not known */
  float min, centre, max;            /* rad or m; 0 and 0: not known */
  float home;
  float config_speed; /* 0: the driver's own */
  uint8_t hasbrakes;
} player_actarray_actuatorgeom_t;

/* m/s^2 and rad/s. An unmeasured value is not a number. */
typedef struct player_imu_data_calib {
  float accel_x, accel_y, accel_z, gyro_x, gyro_y, gyro_z, magn_x, magn_y, magn_z;
} player_imu_data_calib_t;

typedef struct player_localize_hypoth {
  player_pose2d_t mean;
  double cov[3];
  double alpha;
} player_localize_hypoth_t;

typedef struct player_fiducial_item {
  int32_t id;
  player_pose3d_t pose, upose;
} player_fiducial_item_t;

typedef struct player_fiducial_geom {
  player_pose3d_t pose;
  player_bbox3d_t size;
  player_bbox2d_t fiducial_size;
} player_fiducial_geom_t;

/* ---- Clients ---- */

#ifdef __cplusplus
extern "C" {
#endif

/* A sentence about the last call that did not succeed. */
const char *playerc_error_str(void);

typedef struct playerc_mclient playerc_mclient_t;

typedef struct playerc_client {
  void *id; /* the library's */
  char *host;
  int port;
  int connected;
  double datatime; /* of the newest data, s */
} playerc_client_t;

/* Several clients at once. */
playerc_mclient_t *playerc_mclient_create(void);
void playerc_mclient_destroy(playerc_mclient_t *mclient);
int playerc_mclient_addclient(playerc_mclient_t *mclient, playerc_client_t *client);
/* The timeout in ms is for each client. They return how many have data, or -1. */
int playerc_mclient_peek(playerc_mclient_t *mclient, int timeout);
int playerc_mclient_read(playerc_mclient_t *mclient, int timeout);

/* mclient may be NULL. */
playerc_client_t *playerc_client_create(playerc_mclient_t *mclient, const char *host, int port);
void playerc_client_destroy(playerc_client_t *client);
int playerc_client_connect(playerc_client_t *client);
int playerc_client_disconnect(playerc_client_t *client);
/* Waits for the next round of data, ten times a second. It returns NULL on failure. */
void *playerc_client_read(playerc_client_t *client);
int playerc_client_peek(playerc_client_t *client, int timeout); /* ms; 1: read does not wait */
/* These have no effect: the server keeps no old data. */
int playerc_client_datamode(playerc_client_t *client, uint8_t mode);
int playerc_client_requestdata(playerc_client_t *client);
int playerc_client_set_replace_rule(playerc_client_t *client, int interf, int index, int type, int subtype, int replace);
int playerc_client_set_transport(playerc_client_t *client, unsigned int transport);
void playerc_client_set_request_timeout(playerc_client_t *client, uint32_t seconds);

/* Every device begins with this. */
typedef struct playerc_device {
  void *id; /* the library's */
  playerc_client_t *client;
  int code, index;
  char drivername[64];
  int subscribed;
  double datatime, lasttime; /* s */
  int fresh;                 /* set with new data */
} playerc_device_t;

typedef void (*playerc_callback_fn_t)(void *data);
int playerc_client_addcallback(playerc_client_t *client, playerc_device_t *device, playerc_callback_fn_t callback, void *data);
int playerc_client_delcallback(playerc_client_t *client, playerc_device_t *device, playerc_callback_fn_t callback, void *data);

/* ---- Devices ---- */

#define PLAYERC_DEVICE(name) \
  playerc_##name##_t *playerc_##name##_create(playerc_client_t *client, int index); \
  void playerc_##name##_destroy(playerc_##name##_t *device); \
  int playerc_##name##_subscribe(playerc_##name##_t *device, int access); \
  int playerc_##name##_unsubscribe(playerc_##name##_t *device)

typedef struct playerc_position2d {
  playerc_device_t info;
  double pose[3], size[2]; /* of the body */
  double px, py, pa;       /* of the odometry */
  double vx, vy, va;
  int stall;
} playerc_position2d_t;
PLAYERC_DEVICE(position2d);
int playerc_position2d_enable(playerc_position2d_t *device, int enable);
int playerc_position2d_get_geom(playerc_position2d_t *device);
/* vy has no effect. state 0 stops. */
int playerc_position2d_set_cmd_vel(playerc_position2d_t *device, double vx, double vy, double va, int state);
/* Drives to a pose around obstacles, while the program reads or sleeps. */
int playerc_position2d_set_cmd_pose(playerc_position2d_t *device, double gx, double gy, double ga, int state);
int playerc_position2d_set_cmd_car(playerc_position2d_t *device, double vx, double a);
int playerc_position2d_set_cmd_vel_head(playerc_position2d_t *device, double vx, double vy, double pa, int state);
int playerc_position2d_set_odom(playerc_position2d_t *device, double ox, double oy, double oa);

typedef struct playerc_laser {
  playerc_device_t info;
  double pose[3], size[2], robot_pose[3];
  int intensity_on;
  int scan_count;
  double scan_start, scan_res, range_res, max_range, scanning_frequency;
  double *ranges;
  double (*scan)[2]; /* range, bearing */
  player_point_2d_t *point;
  int *intensity;
  int scan_id, laser_id;
  double min_right, min_left;
} playerc_laser_t;
PLAYERC_DEVICE(laser);
int playerc_laser_get_geom(playerc_laser_t *device);
int playerc_laser_get_config(playerc_laser_t *device, double *min_angle, double *max_angle, double *resolution, double *range_res,
                             unsigned char *intensity, double *scanning_frequency);
int playerc_laser_set_config(playerc_laser_t *device, double min_angle, double max_angle, double resolution, double range_res, unsigned char intensity,
                             double scanning_frequency);

typedef struct playerc_sonar {
  playerc_device_t info;
  int pose_count;
  player_pose3d_t *poses;
  int scan_count;
  double *scan;
} playerc_sonar_t;
PLAYERC_DEVICE(sonar);
int playerc_sonar_get_geom(playerc_sonar_t *device);

typedef struct playerc_ranger {
  playerc_device_t info;
  uint32_t element_count;
  double min_angle, max_angle, angular_res, min_range, max_range, range_res, frequency;
  player_pose3d_t device_pose;
  player_bbox3d_t device_size;
  player_pose3d_t *element_poses;
  player_bbox3d_t *element_sizes;
  uint32_t ranges_count;
  double *ranges;
  uint32_t intensities_count;
  double *intensities;
  uint32_t bearings_count;
  double *bearings;
  uint32_t points_count;
  player_point_3d_t *points;
} playerc_ranger_t;
PLAYERC_DEVICE(ranger);
int playerc_ranger_get_geom(playerc_ranger_t *device);
int playerc_ranger_get_config(playerc_ranger_t *device, double *min_angle, double *max_angle, double *angular_res, double *min_range, double *max_range,
                              double *range_res, double *frequency);
/* These have no effect: the sensor stays as it is. */
int playerc_ranger_set_config(playerc_ranger_t *device, double min_angle, double max_angle, double angular_res, double min_range, double max_range,
                              double range_res, double frequency);
int playerc_ranger_power_config(playerc_ranger_t *device, uint8_t value);
int playerc_ranger_intns_config(playerc_ranger_t *device, uint8_t value);

typedef struct playerc_bumper {
  playerc_device_t info;
  int bumper_count;
  uint8_t *bumpers;
} playerc_bumper_t;
PLAYERC_DEVICE(bumper);

typedef struct playerc_power {
  playerc_device_t info;
  int valid;
  double charge;  /* V */
  double percent; /* of 11.0 to 12.6 V */
  double joules, watts;
  int charging;
} playerc_power_t;
PLAYERC_DEVICE(power);

typedef struct playerc_blobfinder {
  playerc_device_t info;
  unsigned int width, height;
  unsigned int blobs_count;
  playerc_blobfinder_blob_t *blobs;
} playerc_blobfinder_t;
PLAYERC_DEVICE(blobfinder);

typedef struct playerc_gripper {
  playerc_device_t info;
  player_pose3d_t pose;
  player_bbox3d_t outer_size, inner_size;
  uint8_t num_beams, capacity;
  uint8_t state; /* PLAYER_GRIPPER_STATE_OPEN ... */
  uint32_t beams;
  uint8_t stored;
} playerc_gripper_t;
PLAYERC_DEVICE(gripper);
int playerc_gripper_open_cmd(playerc_gripper_t *device);
int playerc_gripper_close_cmd(playerc_gripper_t *device);
int playerc_gripper_stop_cmd(playerc_gripper_t *device);
int playerc_gripper_store_cmd(playerc_gripper_t *device);
int playerc_gripper_retrieve_cmd(playerc_gripper_t *device);
int playerc_gripper_get_geom(playerc_gripper_t *device);
void playerc_gripper_printout(playerc_gripper_t *device, const char *prefix);

typedef struct playerc_ptz {
  playerc_device_t info;
  double pan, tilt, zoom;
  int status;
} playerc_ptz_t;
PLAYERC_DEVICE(ptz);
int playerc_ptz_set(playerc_ptz_t *device, double pan, double tilt, double zoom);

/* Pictures of a camera of the robot, by the address of the dashboard. */
typedef struct playerc_camera {
  playerc_device_t info;
  int width, height; /* pixels */
  int bpp, format, fdiv;
  int compression; /* PLAYER_CAMERA_COMPRESS_JPEG */
  int image_count; /* bytes */
  uint8_t *image;
} playerc_camera_t;
PLAYERC_DEVICE(camera);
/* From JPEG to red, green and blue of each pixel. */
void playerc_camera_decompress(playerc_camera_t *device);
/* Writes the picture as it is: JPEG, or after playerc_camera_decompress PPM. */
void playerc_camera_save(playerc_camera_t *device, const char *filename);

/* The binding of graphics2d draws nothing. */
typedef struct playerc_graphics2d {
  playerc_device_t info;
  player_color_t color;
} playerc_graphics2d_t;
PLAYERC_DEVICE(graphics2d);
int playerc_graphics2d_setcolor(playerc_graphics2d_t *device, player_color_t col);
int playerc_graphics2d_draw_points(playerc_graphics2d_t *device, player_point_2d_t pts[], int count);
int playerc_graphics2d_draw_polyline(playerc_graphics2d_t *device, player_point_2d_t pts[], int count);
int playerc_graphics2d_draw_polygon(playerc_graphics2d_t *device, player_point_2d_t pts[], int count, int filled, player_color_t fill_color);
int playerc_graphics2d_clear(playerc_graphics2d_t *device);

/* An inertial measurement unit. A value that it does not measure is not a number. */
typedef struct playerc_imu {
  playerc_device_t info;
  player_pose3d_t pose; /* angles: left side up, front down, counterclockwise; places are 0 */
  player_pose3d_t vel;  /* rates of the angles */
  player_pose3d_t acc;  /* m/s^2 ahead, to the left, up; at rest 9.8 upward */
  player_imu_data_calib_t calib_data;
  float q0, q1, q2, q3; /* the pose as a quaternion: w x y z */
} playerc_imu_t;
PLAYERC_DEVICE(imu);
/* This has no effect: all data is there. */
int playerc_imu_datatype(playerc_imu_t *device, int value);
/* These fail: the hardware has no such command. */
int playerc_imu_reset_orientation(playerc_imu_t *device, int value);
int playerc_imu_reset_euler(playerc_imu_t *device, float roll, float pitch, float yaw);

/* A receiver of satellites. */
typedef struct playerc_gps {
  playerc_device_t info;
  double utc_time; /* s since 1970; 0: not known */
  double lat, lon; /* degrees */
  double alt;      /* m above the sea */
  double speed;    /* m/s over ground */
  double course;   /* radians clockwise from north */
  double utm_e, utm_n;
  double hdop, vdop;         /* not known: 0 */
  double err_horz, err_vert; /* m, one standard deviation; not known: not a number */
  int quality;               /* 0: no fix, 1: from satellites alone, 2: with corrections */
  int sat_count;
} playerc_gps_t;
PLAYERC_DEVICE(gps);

/* Digital inputs and outputs. */
typedef struct playerc_dio {
  playerc_device_t info;
  uint8_t count;  /* of inputs, at most 32 */
  uint32_t digin; /* bit n: input n */
} playerc_dio_t;
PLAYERC_DEVICE(dio);
/* Sets the first outputs: bit n is output n. */
int playerc_dio_set_output(playerc_dio_t *device, uint8_t output_count, uint32_t digout);

/* Other inputs and outputs, V. */
typedef struct playerc_aio {
  playerc_device_t info;
  uint8_t voltages_count;
  float *voltages;
} playerc_aio_t;
PLAYERC_DEVICE(aio);
int playerc_aio_set_output(playerc_aio_t *device, uint8_t id, float volt);
float playerc_aio_get_data(playerc_aio_t *device, uint32_t index);

/* Joints. -1 is all of them. */
typedef struct playerc_actarray {
  playerc_device_t info;
  uint32_t actuators_count;
  player_actarray_actuator_t *actuators_data;
  uint32_t actuators_geom_count;
  player_actarray_actuatorgeom_t *actuators_geom;
  uint8_t motor_state;
  player_point_3d_t base_pos;               /* not known */
  player_orientation_3d_t base_orientation; /* not known */
} playerc_actarray_t;
PLAYERC_DEVICE(actarray);
player_actarray_actuator_t playerc_actarray_get_actuator_data(playerc_actarray_t *device, uint32_t index);
player_actarray_actuatorgeom_t playerc_actarray_get_actuator_geom(playerc_actarray_t *device, uint32_t index);
int playerc_actarray_get_geom(playerc_actarray_t *device);
int playerc_actarray_position_cmd(playerc_actarray_t *device, int joint, float position);
int playerc_actarray_multi_position_cmd(playerc_actarray_t *device, float *positions, int positions_count);
/* Moves to the limit of the joint; 0 stops it. */
int playerc_actarray_speed_cmd(playerc_actarray_t *device, int joint, float speed);
int playerc_actarray_multi_speed_cmd(playerc_actarray_t *device, float *speeds, int speeds_count);
/* Only all of them together have a home. */
int playerc_actarray_home_cmd(playerc_actarray_t *device, int joint);
int playerc_actarray_speed_config(playerc_actarray_t *device, int joint, float speed);
int playerc_actarray_power(playerc_actarray_t *device, uint8_t enable);
/* This has no effect: the server knows of no brakes. */
int playerc_actarray_brakes(playerc_actarray_t *device, uint8_t enable);

/* Fiducials that the finder of a simulated robot sees. */
typedef struct playerc_fiducial {
  playerc_device_t info;
  player_fiducial_geom_t fiducial_geom; /* zeros: not known */
  int fiducials_count;
  player_fiducial_item_t *fiducials; /* yaws and upose are not known */
} playerc_fiducial_t;
PLAYERC_DEVICE(fiducial);
int playerc_fiducial_get_geom(playerc_fiducial_t *device);

typedef struct playerc_simulation {
  playerc_device_t info;
} playerc_simulation_t;
PLAYERC_DEVICE(simulation);
int playerc_simulation_set_pose2d(playerc_simulation_t *device, char *name, double x, double y, double a);
int playerc_simulation_get_pose2d(playerc_simulation_t *device, char *name, double *x, double *y, double *a);
/* The property "color" of a robot or a thing, four floats from 0 to 1: red, green, blue, and
   one that has no effect. The others are in the world file: they fail. */
int playerc_simulation_set_property(playerc_simulation_t *device, char *name, char *property, void *value, size_t value_len);
int playerc_simulation_get_property(playerc_simulation_t *device, char *name, char *property, void *value, size_t value_len);

#ifdef __cplusplus
}
#endif

#endif
