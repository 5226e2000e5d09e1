/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file player.h
 *
 * A client of the Player protocol (docs/PROTOCOL.md) in C99. Compile player.c with the program, or link with libplayer.
 * This header is plain ISO C: it needs no macro and no other header before it.
 *
 *     player_client *robot = player_create();
 *     if (player_connect(robot, "localhost", PLAYER_PORT, 5000) ||  // limits in ms
 *         player_open(robot, "sonar", 'r', NULL, 10000) || player_open(robot, "position", 'w', NULL, 10000) ||
 *         player_set_command_lifetime(robot, 500))  // a program that hangs does not leave the robot driving
 *       return fprintf(stderr, "%s\n", player_error(robot)), 1;
 *     while (player_read(robot, 5000) == PLAYER_OK)  // ten times a second
 *       player_set_speed(robot, player_get_sonar(robot)[3] < 500 ? 0 : 100, 20);  // mm/s, deg/s
 *     player_destroy(robot);
 *
 * One thread uses a client. player_create allocates it, 56 KB, and getaddrinfo allocates while player_connect runs;
 * nothing else is allocated. Compact rounds (player_set_compact) take 20 KB of the stack. A program without a heap has
 * `static player_client robot`, as programs of version 1.0 have. With PLAYER_OPAQUE defined, which is best for a new
 * program, this header has the calls alone and not the structure.
 *
 * A device is a char: its letter, such as 'p', or the byte that player_open gives one by its name, for example laser:1
 * or imu:0.
 *
 * Lengths are in mm, angles in degrees. x is forward, y to the left, and angles increase counterclockwise. Times are in
 * ms unless a name ends in _us. Every call that waits has a limit; only PLAYER_FOREVER waits without one. The name of a
 * host is looked up without a limit.
 *
 * Structures and their sizes are the same in all versions of one soname.
 */
#ifndef PLAYER_H
#define PLAYER_H

#define PLAYER_VERSION "1.1.0"
#define PLAYER_VERSION_MAJOR 1
#define PLAYER_VERSION_MINOR 1
#define PLAYER_VERSION_PATCH 0
/** Of this header, for comparisons: 10100 is 1.1.0. */
#define PLAYER_VERSION_NUMBER (10000 * PLAYER_VERSION_MAJOR + 100 * PLAYER_VERSION_MINOR + PLAYER_VERSION_PATCH)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results ---- */

typedef enum {
  PLAYER_OK = 0,
  PLAYER_REFUSED,  /**< the server granted less: see player_access and player_why */
  PLAYER_TIMEOUT,  /**< the connection is usable; the next call continues */
  PLAYER_CLOSED,   /**< no connection, or it is lost: see player_reconnect */
  PLAYER_PROTOCOL, /**< a block of wrong size; the next call continues after it */
  PLAYER_USAGE     /**< the call makes no sense now; nothing was sent */
} player_result;

/**
 * Returns a sentence for a result, for example "no connection, or it is lost". It is a constant. player_error has what
 * happened to one client.
 */
const char *player_strerror(player_result r);

/** Returns the version of the library that the program runs with, for example "1.1.0"; PLAYER_VERSION is the header's. */
const char *player_version(void);

/** Limits of calls that wait, in place of a number of ms. */
enum {
  PLAYER_NO_WAIT = 0,  /**< take the data that has arrived */
  PLAYER_FOREVER = -1  /**< wait without a limit; so does any negative number */
};

/* ---- Data (PROTOCOL 7) ---- */

enum {
  PLAYER_PORT = 6665,
  PLAYER_SONARS = 16,
  PLAYER_LASERS = 361,
  PLAYER_CHANNELS = 32,
  PLAYER_MAX_BLOBS = 10, /**< in one channel */
  PLAYER_AXES = 8,
  PLAYER_MAX_READINGS = 8192, /**< of a ranger */
  PLAYER_MAX_IO = 128,        /**< inputs and outputs of one device */
  PLAYER_MAX_JOINTS = 64
};

typedef struct {
  uint32_t time;         /**< ms since the server started */
  int32_t x, y;          /**< from the pose at the odometry's origin */
  uint16_t heading;      /**< 0..359 */
  int16_t speed;         /**< mm/s */
  int16_t turnrate;      /**< deg/s */
  uint16_t compass;      /**< 0..359 */
  uint8_t stall;         /**< zero if the motors turn freely */
} player_position;

typedef struct {
  uint8_t front, rear;   /**< bumpers: lowest five bits, set while pressed */
  uint8_t battery;       /**< decivolt */
  uint8_t voltage;       /**< the same, by the name that the manual's C++ has */
} player_misc;

typedef struct {
  uint8_t state;         /**< PLAYER_PADDLES_OPEN ... PLAYER_LIFT_ERROR */
  uint8_t beams;         /**< PLAYER_GRIP_LIMIT ... PLAYER_RIGHT_PADDLE_OPEN */
} player_gripper;

/** Bits of player_gripper.state. */
enum {
  PLAYER_PADDLES_OPEN = 1,
  PLAYER_PADDLES_CLOSED = 2,
  PLAYER_PADDLES_MOVING = 4,
  PLAYER_PADDLES_ERROR = 8,
  PLAYER_LIFT_UP = 16,
  PLAYER_LIFT_DOWN = 32,
  PLAYER_LIFT_MOVING = 64,
  PLAYER_LIFT_ERROR = 128
};

/** Bits of player_gripper.beams. */
enum {
  PLAYER_GRIP_LIMIT = 1,
  PLAYER_LIFT_LIMIT = 2,
  PLAYER_OUTER_BEAM = 4,
  PLAYER_INNER_BEAM = 8,
  PLAYER_LEFT_PADDLE_OPEN = 16,
  PLAYER_RIGHT_PADDLE_OPEN = 32
};

/** Gripper commands (PROTOCOL 5.1). */
enum {
  PLAYER_GRIP_OPEN = 1,
  PLAYER_GRIP_CLOSE = 2,
  PLAYER_GRIP_STOP = 3,
  PLAYER_LIFT_RAISE = 4,
  PLAYER_LIFT_LOWER = 5,
  PLAYER_LIFT_STOP = 6,
  PLAYER_GRIP_STORE = 7,
  PLAYER_GRIP_DEPLOY = 8,
  PLAYER_GRIP_HALT = 15,
  PLAYER_GRIP_PRESS = 16, /**< with an argument, in steps of 20 ms */
  PLAYER_LIFT_CARRY = 17  /**< with an argument, in steps of 20 ms */
};

typedef struct {
  int16_t pan;           /**< -100..100, counterclockwise */
  int16_t tilt;          /**< -25..25, up */
  int16_t zoom;          /**< 0 wide .. 1023 telephoto */
} player_ptz;

typedef struct {
  uint32_t area;         /**< pixels */
  uint8_t x, y;          /**< centre: pixels from the top left */
  uint8_t left, right, top, bottom;
} player_blob;

typedef struct {
  uint8_t count[PLAYER_CHANNELS];
  player_blob blobs[PLAYER_CHANNELS][PLAYER_MAX_BLOBS]; /**< largest first */
} player_vision;

typedef struct {
  uint32_t buttons;      /**< bit n is set while button n is pressed */
  int16_t axes[PLAYER_AXES]; /**< -32767..32767, 0 at rest */
} player_joystick;

/* ---- Data of devices that are opened by name ---- */

/** The values of fields that the hardware does not measure: of an int32_t, and of a uint32_t. */
#define PLAYER_UNKNOWN INT32_MIN
#define PLAYER_UNKNOWN_AMOUNT UINT32_MAX

/** Of a laser or a ring of sonars that is not the first; see the members laser and sonar. */
typedef struct {
  uint16_t ranges[PLAYER_LASERS]; /**< mm, every half degree, right to left */
} player_laser;
typedef struct {
  uint16_t ranges[PLAYER_SONARS]; /**< mm, clockwise from the front left; 0: not fired yet */
} player_sonar;

/** Readings of a ranger that are no distances. */
enum {
  PLAYER_NOTHING_IN_RANGE = 0xFFFE, /**< it has seen nothing */
  PLAYER_UNKNOWN_RANGE = 0xFFFF     /**< it was not taken, or its echo was no distance */
};

/** Any range sensor (PROTOCOL 7.9). player_rays says where each reading looks. */
typedef struct {
  uint16_t unit;                        /**< of the readings: mm, from 1 */
  uint16_t count;                       /**< readings */
  uint16_t ranges[PLAYER_MAX_READINGS]; /**< in units, or PLAYER_NOTHING_IN_RANGE or PLAYER_UNKNOWN_RANGE */
} player_ranger;

/** An inertial measurement unit (PROTOCOL 7.10). Each field may be PLAYER_UNKNOWN. */
typedef struct {
  int32_t roll, pitch, yaw;               /**< thousandths of a degree: left side up, front down, counterclockwise */
  int32_t roll_rate, pitch_rate, yaw_rate; /**< thousandths of a degree each second */
  int32_t x, y, z;                        /**< mm/s^2 ahead, to the left, up; at rest z is 9807 */
} player_imu;

/** player_gps.fix. */
enum {
  PLAYER_NO_FIX = 0,
  PLAYER_PLAIN_FIX = 1,  /**< from satellites alone */
  PLAYER_DGPS_FIX = 2,   /**< with corrections */
  PLAYER_FLOAT_FIX = 3,  /**< RTK, not settled: some decimetres */
  PLAYER_RTK_FIX = 4,    /**< RTK, settled: some centimetres */
  PLAYER_DEAD_RECKON = 5, /**< estimated from the last fix */
  PLAYER_UNKNOWN_FIX = 255
};

/** A satellite receiver (PROTOCOL 7.11). */
typedef struct {
  uint8_t fix;                   /**< PLAYER_NO_FIX ... PLAYER_UNKNOWN_FIX */
  uint8_t satellites;            /**< used; 255: not known */
  int32_t latitude, longitude;   /**< 1e-7 degrees, WGS 84, north and east; or PLAYER_UNKNOWN */
  int32_t height;                /**< mm above mean sea level; or PLAYER_UNKNOWN */
  uint32_t horizontal, vertical; /**< mm, one standard deviation; or PLAYER_UNKNOWN_AMOUNT */
  uint64_t time;                 /**< ms of UTC since 1970; 0: not known */
  uint32_t speed;                /**< mm/s over ground; or PLAYER_UNKNOWN_AMOUNT */
  uint32_t course;               /**< thousandths of a degree clockwise from north; or PLAYER_UNKNOWN_AMOUNT */
} player_gps;

/** Inputs and outputs (PROTOCOL 7.12). player_channels describes them. */
typedef struct {
  int count;
  int32_t values[PLAYER_MAX_IO]; /**< in the unit of the channel, a digital one 0 or 1; or PLAYER_UNKNOWN */
} player_io;

/** Bits of player_joint.state; without PLAYER_JOINT_KNOWN the others mean nothing. */
enum {
  PLAYER_JOINT_MOVING = 1,
  PLAYER_JOINT_POWERED = 2,
  PLAYER_JOINT_AT_LIMIT = 4,
  PLAYER_JOINT_FAILED = 8,
  PLAYER_JOINT_KNOWN = 128
};

enum { PLAYER_ALL_JOINTS = 0xFF }; /**< of player_move_joint */

typedef struct {
  int32_t position; /**< in the unit of the joint; or PLAYER_UNKNOWN */
  int32_t goal;     /**< in the unit of the joint; PLAYER_UNKNOWN: it has none */
  uint8_t state;
} player_joint;

/** Servos, or the joints of an arm (PROTOCOL 7.13). player_channels describes them. */
typedef struct {
  int count;
  player_joint joints[PLAYER_MAX_JOINTS];
} player_servo;

/** player_goto.state. */
enum {
  PLAYER_GOTO_IDLE,
  PLAYER_GOTO_DRIVING,
  PLAYER_GOTO_ARRIVED,
  PLAYER_GOTO_BLOCKED, /**< it sees no way, and tries on */
  PLAYER_GOTO_STOPPED  /**< it has given the goal up: player_goto_reason */
};

enum { PLAYER_ANY_HEADING = 0xFFFF }; /**< of a goal: the robot keeps the heading with which it arrives */

/** A goal of a goto device (PROTOCOL 5.6), in the frame of the odometry. A limit of 0 is the device's. */
typedef struct {
  int32_t x, y;       /**< mm */
  uint16_t heading;   /**< 0..359 deg counterclockwise; or PLAYER_ANY_HEADING */
  uint16_t speed;     /**< the highest, mm/s */
  uint16_t turnrate;  /**< the highest, deg/s */
  uint16_t tolerance; /**< how far from the goal the robot has arrived, mm */
  uint16_t radius;    /**< half of the narrowest gap that the robot is to pass, mm */
  uint16_t tag;       /**< any number, which the data repeats; a goal that has ended needs another one */
} player_goal;

/** How far a goto device has come (PROTOCOL 7.14). */
typedef struct {
  uint8_t state;     /**< PLAYER_GOTO_... */
  uint8_t reason;    /**< why it has given the goal up, 0: it has not */
  uint16_t tag;      /**< of the goal */
  int32_t x, y;      /**< of the goal, mm; or PLAYER_UNKNOWN */
  uint16_t heading;  /**< of the goal, deg; or PLAYER_ANY_HEADING */
  uint32_t distance; /**< to the goal in a straight line, mm; or 0xFFFFFFFF */
} player_goto;

/* ---- The client ---- */

enum { PLAYER_MAX_DEVICE_NAME = 24 }; /**< bytes with the zero: joystick:2147483647 has 20 */

/** A client of one robot. player_struct.h has its structure, which a program that uses player_create does not need. */
typedef struct player_client player_client;

/** Returns a new client, which is not connected, or NULL without memory. Free it by player_destroy. */
player_client *player_create(void);

/**
 * Closes the connection of a client, frees it with its TLS (player_tls.h), and does nothing with NULL. As with
 * player_close, the server then stops this client's devices. Pointers of player_get_... are invalid afterwards.
 */
void player_destroy(player_client *c);

/**
 * Returns the text of the last result of a client that was not PLAYER_OK, for people: "" if there was none. It is valid
 * until the next call.
 */
const char *player_error(const player_client *c);

/** Reports whether there is a connection, as far as the last call has seen. */
bool player_connected(const player_client *c);

/**
 * Returns the descriptor of the connection for poll or an event loop, -1 without one. When it is readable, call
 * player_read(c, PLAYER_NO_WAIT) until it returns PLAYER_TIMEOUT. It may be another one after player_connect and
 * player_reconnect.
 */
int player_descriptor(const player_client *c);

/** Returns the host of the last player_connect, "" before. */
const char *player_host(const player_client *c);

/** Returns the port of the last player_connect, 0 before. */
int player_port(const player_client *c);

/* ---- The data of a round ---- */

/**
 * Return the newest data of the first device of an interface; zeros before there is some (player_has). The pointer stays
 * the same until player_destroy, and the data behind it change in player_read and other calls that wait.
 */
const player_position *player_get_position(const player_client *c);
const uint16_t *player_get_sonar(const player_client *c); /**< PLAYER_SONARS mm, clockwise from the front left; 0: not fired yet */
const uint16_t *player_get_laser(const player_client *c); /**< PLAYER_LASERS mm, every half degree, right to left */
const player_misc *player_get_misc(const player_client *c);
const player_gripper *player_get_gripper(const player_client *c);
const player_ptz *player_get_ptz(const player_client *c);
const player_vision *player_get_vision(const player_client *c);
const player_joystick *player_get_joystick(const player_client *c);

/** Returns the time of the latest round, us since the server started; 0 unless device y is read. */
uint64_t player_server_time_us(const player_client *c);

/** Reports whether a device has data: its latest block was valid and not empty. */
bool player_has(const player_client *c, char device);

/**
 * Reports whether the latest round has a block of this device. It is useful after player_set_fresh; otherwise every
 * round has all blocks.
 */
bool player_new(const player_client *c, char device);

/** Returns the size of the latest block of a device, bytes. */
int player_size(const player_client *c, char device);

/** Returns the access that the server granted last: r, w, a, c, e; 0 before. */
char player_access(const player_client *c, char device);

/**
 * Returns why the last player_request was refused a device, for example "missing the robot has no such device": a word
 * of PROTOCOL 8.9.1, a space, and text for people. It returns "" if the device was not refused, or the server does not
 * say. It is valid until the next player_request or player_open.
 */
const char *player_why(const player_client *c, char device);

/** Returns the text for people of player_why, or "". */
const char *player_reason(const player_client *c, char device);

/**
 * Sets *us to the age of a device's data when the server made the latest round, us. Ages over 71 minutes are reported
 * as 71 minutes.
 *
 * @return false if device y is not read or the device has no data yet
 */
bool player_age_us(const player_client *c, char device, uint64_t *us);

/**
 * Returns the name of a device in the list that player_open or player_devices has got from the server, for example
 * "laser:1", or "". It is valid until the next call of these.
 */
const char *player_device_name(const player_client *c, char device);

/* ---- Connections ---- */

/**
 * Closes the connection. The server then stops the wheels and joints that this client drives. The data stay, and so does
 * TLS for the next connection.
 */
void player_close(player_client *c);

/**
 * Connects to a server. c may be new or used before. The name is looked up without a limit. The bytes of player_open and
 * the variables of player_bind_... are forgotten.
 *
 * @param timeout ms for all addresses of the host together
 * @return PLAYER_OK; PLAYER_CLOSED: no such host, or nothing answers there; PLAYER_TIMEOUT; PLAYER_USAGE: the name is
 *         longer than 255 bytes
 */
player_result player_connect(player_client *c, const char *host, int port, int timeout);

/**
 * Connects again to the server of player_connect, as often as the timeout allows, sets name, frequency, lifetime, mode,
 * form of rounds and freshness as they were, and asks for the devices that were open. Until it succeeds, it can be
 * called again. No command is repeated: the client's devices were stopped when the connection was lost.
 *
 * @param timeout ms
 * @return PLAYER_OK; PLAYER_REFUSED: the connection is there, but not all devices could be opened, and a later call asks
 *         for them again; PLAYER_CLOSED: no server answers, or there was no connection before; PLAYER_TIMEOUT;
 *         PLAYER_PROTOCOL: a byte of player_open means another device now, since the server was started anew with other
 *         devices: call player_connect, and open them by their names
 */
player_result player_reconnect(player_client *c, int timeout);

/**
 * Asks for devices and waits for the server's reply. Setting up a device can take seconds. Rounds that arrive meanwhile
 * update the data and are not returned by player_read.
 *
 * @param pairs pairs of a device and an access: "srpw" is sonar read, position write; the accesses are r, w, a (all) and
 *        c (close). Closing position, or giving up writing, stops the wheels if this client drives them
 * @param timeout ms; after PLAYER_TIMEOUT the next call takes the reply
 * @return PLAYER_OK; PLAYER_REFUSED: less was granted, see player_access, and is in force; player_why has the reasons;
 *         PLAYER_TIMEOUT, PLAYER_CLOSED, PLAYER_PROTOCOL; PLAYER_USAGE: pairs are none
 */
player_result player_request(player_client *c, const char *pairs, int timeout);

/**
 * Waits for one whole round: a block of every device open for reading.
 *
 * @param timeout ms; PLAYER_NO_WAIT: of arrived data. After PLAYER_TIMEOUT the next call continues the same round
 * @return PLAYER_OK; PLAYER_TIMEOUT; PLAYER_CLOSED: the connection is lost, and the server stops all that this client
 *         drives; PLAYER_PROTOCOL: a block made no sense, and the next call continues after it; PLAYER_USAGE: no device
 *         is open for reading
 */
player_result player_read(player_client *c, int timeout);

/* ---- Devices by name (PROTOCOL 2.11) ---- */

/**
 * Opens a device by its name. It asks the server which devices there are unless it knows the name; a server that does
 * not know the question has only the devices with letters, of index 0. Have the data decoded by player_bind_... before
 * the next player_read; data of the first device of an interface with a letter are also at player_get_...
 *
 * @param name an interface and an index, for example "laser:1", or an interface alone, whose index is 0: "imu";
 *        "freshness": device y, the server itself, whose blocks have its time and the ages of the others
 * @param access 'r', 'w' or 'a'
 * @param device is set to its byte for the other calls; 0: there is none. NULL: the byte is not wanted, for example of
 *        the first sonar, whose data are at player_get_sonar
 * @param timeout ms
 * @return as player_request, and player_why(c, *device) is the reason; PLAYER_REFUSED also if the robot has no such
 *         device: player_error has those that it has; PLAYER_USAGE: the name is none
 */
player_result player_open(player_client *c, const char *name, char access, char *device, int timeout);

/**
 * Have the data of a device decoded into a variable, which must last until the next player_connect or player_destroy.
 * player_has is false until its next data. Data that is not the interface's is PLAYER_PROTOCOL of player_read, and
 * changes nothing. NULL ends it: the data of a first device are at player_get_... again, and data of others are not
 * decoded.
 *
 * @return PLAYER_OK; PLAYER_USAGE: the device is of another interface, or not listed
 */
player_result player_bind_position(player_client *c, char device, player_position *to);
player_result player_bind_laser(player_client *c, char device, player_laser *to);
player_result player_bind_sonar(player_client *c, char device, player_sonar *to);
player_result player_bind_ranger(player_client *c, char device, player_ranger *to);
player_result player_bind_imu(player_client *c, char device, player_imu *to);
player_result player_bind_gps(player_client *c, char device, player_gps *to);
player_result player_bind_io(player_client *c, char device, player_io *to);
player_result player_bind_servo(player_client *c, char device, player_servo *to);
player_result player_bind_goto(player_client *c, char device, player_goto *to);
player_result player_bind_misc(player_client *c, char device, player_misc *to);
player_result player_bind_gripper(player_client *c, char device, player_gripper *to);
player_result player_bind_ptz(player_client *c, char device, player_ptz *to);
player_result player_bind_vision(player_client *c, char device, player_vision *to);
player_result player_bind_joystick(player_client *c, char device, player_joystick *to);

/* ---- Questions about the robot (PROTOCOL 8.9) ----
   Each writes at most room answers, and their number to *count. A server that does not know a question has none. Rounds
   that arrive meanwhile update the data and are not returned by player_read. They return PLAYER_OK, PLAYER_TIMEOUT,
   PLAYER_CLOSED or PLAYER_PROTOCOL. */

/** One device of the robot. */
typedef struct {
  char device;
  char name[PLAYER_MAX_DEVICE_NAME]; /**< for example laser:1 */
  char driver[48];                   /**< for people; a longer name is cut */
} player_entry;

/** Asks which devices the robot has (PROTOCOL 8.9.5). */
player_result player_devices(player_client *c, player_entry *entries, size_t room, size_t *count, int timeout);

/**
 * One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of rotation, x ahead, y to the
 * left (PROTOCOL 8.9.3).
 */
typedef struct {
  char device;
  int number;           /**< of a sonar: its place in the ranges; otherwise 0 */
  double x, y;          /**< of its middle, mm */
  double heading;       /**< degrees counterclockwise */
  double length, width; /**< along its heading, and across, mm; of position: the robot's body; 0: not known, or none */
  double range;         /**< of a sensor, mm; 0: not known, or none */
  double view;          /**< how wide it sees, degrees, half to each side; 0: not known, or none */
} player_part;

/**
 * Asks for the places and the sizes of the parts of the robot, as far as the server knows them; a device that is open
 * is known best. Devices without letters are among them after player_devices or player_open.
 */
player_result player_geometry(player_client *c, player_part *parts, size_t room, size_t *count, int timeout);

/**
 * Where readings of a laser, sonar or ranger look from and to: those that follow each other from one point in equal
 * steps (PROTOCOL 8.9.6), in the frame of player_part. A scanner has one of these, a ring of sonars one for each.
 */
typedef struct {
  char device;
  int first, count;       /**< readings, from 0; how many, from 1 */
  double x, y;            /**< of the point, mm */
  double heading, step;   /**< of the first reading, and to the next one: degrees counterclockwise */
  double near_mm, far_mm; /**< the smallest and the largest distance; 0: not known */
  double cone;            /**< how wide a reading sees, degrees, half to each side; 0: a line, or not known */
} player_ray;

/** Asks for them; open the devices first, since a driver may learn it then. */
player_result player_rays(player_client *c, player_ray *rays, size_t room, size_t *count, int timeout);

/** An input, an output or a joint (PROTOCOL 8.9.7). */
typedef struct {
  char device;
  char role;        /**< 'i': an input, 'o': an output, 'j': a joint */
  int number;       /**< in the data and in commands, from 0 */
  char unit[16];    /**< of its values, one word: bit, mV, mdeg ...; -: not known; a longer one is cut */
  int32_t min, max; /**< of its values; PLAYER_UNKNOWN: not known */
  char name[64];    /**< for people; may be empty; a longer one is cut */
} player_channel;

/** Asks for the inputs, outputs and joints of the robot. */
player_result player_channels(player_client *c, player_channel *channels, size_t room, size_t *count, int timeout);

/** The colour of a channel of vision (PROTOCOL 8.9.8). */
typedef struct {
  char device;
  int channel;    /**< 0 to PLAYER_CHANNELS - 1 */
  uint32_t color; /**< 0xRRGGBB */
} player_channel_color;

/** Asks which colours the channels of vision devices have, as far as the server knows them. */
player_result player_channel_colors(player_client *c, player_channel_color *colors, size_t room, size_t *count, int timeout);

/* ---- Commands (PROTOCOL 5) ----
   They are sent at once, and need write access to the device. PLAYER_OK means only that the command was sent: the server
   does not answer. A network that takes none of it within 5 s is PLAYER_CLOSED. PLAYER_USAGE: no write access. */

/** Sends a command of any layout, at most 512 bytes. */
player_result player_command(player_client *c, char device, const void *payload, size_t size);

/**
 * Drives. The wheels keep the speeds until the next command of any client, until this client leaves in any way, or until
 * the end of its command lifetime.
 *
 * @param speed mm/s forward
 * @param turnrate deg/s counterclockwise
 */
player_result player_set_speed(player_client *c, int speed, int turnrate);

/** Points the camera: degrees counterclockwise and up, and a zoom of 0 (wide) to 1023. It stays so without this client. */
player_result player_set_ptz(player_client *c, int pan, int tilt, int zoom);

/** Moves the gripper: PLAYER_GRIP_OPEN ... PLAYER_LIFT_CARRY. It goes on without this client. */
player_result player_set_gripper(player_client *c, uint8_t command, uint8_t argument);

/** Sets an output of an io device to a value in its unit (player_channels). It stays so without this client. */
player_result player_set_output(player_client *c, char device, uint8_t channel, int32_t value);

/**
 * Moves a joint of a servo device, or PLAYER_ALL_JOINTS. Joints stop where the wheels stop: when this client leaves, or
 * at the end of its command lifetime.
 *
 * @param goal in the joint's unit (player_channels); PLAYER_UNKNOWN stops it where it is
 * @param speed in that unit each second; 0: as the driver moves it
 */
player_result player_move_joint(player_client *c, char device, uint8_t joint, int32_t goal, uint32_t speed);

/** Stops all joints of a servo device where they are. */
player_result player_stop_joints(player_client *c, char device);

/**
 * Has a goto device drive the wheels to a goal around obstacles. Its data say how far it has come. Repeat the goal within
 * the command lifetime, if there is one. Any command to position ends it, and so does the end of this client.
 */
player_result player_set_goal(player_client *c, char device, const player_goal *goal);

/** Has a goto device give its goal up, and stop the wheels. */
player_result player_stop_goal(player_client *c, char device);

/** Returns a sentence for player_goto.reason, a constant. */
const char *player_goto_reason(uint8_t reason);

/* ---- Configuration (PROTOCOL 4, 6) ----
   The server does not answer: PLAYER_OK means that it was sent. PLAYER_CLOSED as with commands; PLAYER_USAGE: a value is
   out of range, and nothing was sent. */

/** Sets the rate of rounds, 1 to 65535 Hz. The default is 10. */
player_result player_set_frequency(player_client *c, int hz);

/**
 * Sets for how long the commands of this client drive wheels, joints and goals: they stop unless commands are repeated in
 * time, also when this program hangs. A client with a lifetime yields: its zero speeds stop only what it drives itself.
 * 0.7.4a ignores it.
 *
 * @param ms 1 to 60000; 0: the commands are good until the client leaves (PROTOCOL 5.5)
 */
player_result player_set_command_lifetime(player_client *c, int ms);

/**
 * Selects when the server sends rounds: for each player_request_data, or (the default) at its frequency. player_read
 * still returns the rounds that were sent before, unless a player_request(c, "", ...) follows.
 */
player_result player_set_request_reply(player_client *c, bool on);

/** Asks for one round, after player_set_request_reply(c, true). */
player_result player_request_data(player_client *c);

/**
 * Selects whether a round has only new data (PROTOCOL 8.2). It needs device y open for reading, whose block describes
 * the round; without it, PLAYER_USAGE.
 */
player_result player_set_fresh(player_client *c, bool on);

/** Forms of rounds. */
enum {
  PLAYER_PLAIN = 0,
  PLAYER_COMPACT = 1,
  PLAYER_COMPACT_WHEN_FULL = 2 /**< while the network is found full */
};

/**
 * Selects the form of rounds: compact ones are smaller, without loss (PROTOCOL 8.4). The default is PLAYER_PLAIN. Servers
 * that do not know compact rounds send plain ones.
 */
player_result player_set_compact(player_client *c, int form);

/** Sets the name by which people see this client: at most 64 bytes of printable ASCII. "" removes it. */
player_result player_set_name(player_client *c, const char *name);

/**
 * Stops the robot for all, or releases the stop. While it holds, also when this client has left, the server drops all
 * commands of all clients. It needs no open device, but the right to write; without it the server ignores the call.
 */
player_result player_emergency_stop(player_client *c, bool on);

/** Turns the motors on or off, for all clients. It needs an open device of the microcontroller. The robot may start at once. */
player_result player_change_motor_state(player_client *c, bool on);

/** Selects separate control of speed and turn rate, or of the wheels, for all clients. */
player_result player_change_velocity_control(player_client *c, bool separate);

/** Sets the odometry to zero, for all clients. The wheels go on. */
player_result player_reset_position(player_client *c);

/** Sends a configuration of any layout to a device: a code and its arguments, at most 512 bytes. It needs no access. */
player_result player_config(player_client *c, char device, const void *payload, size_t size);

#ifdef __cplusplus
}
#endif

#ifndef PLAYER_OPAQUE
#include "player_struct.h"
#endif

#endif
