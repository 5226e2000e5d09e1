/* SPDX-License-Identifier: Apache-2.0
 *
 * player.h is a client of the Player protocol (docs/PROTOCOL.md) in C99. Compile
 * player.c with the program, or link with libplayer. This header is plain ISO C:
 * it needs no macro and no other header before it.
 *
 *   static player_client robot;
 *   if (player_connect(&robot, "localhost", 6665, 5000) ||
 *       player_request(&robot, "srpw", 10000))      // read sonar, write position
 *     return fprintf(stderr, "%s\n", robot.error), 1;
 *   while (player_read(&robot, 5000) == PLAYER_OK)  // ten times a second
 *     player_set_speed(&robot, robot.sonar[3] < 500 ? 0 : 100, 20);
 *   player_close(&robot);
 *
 * A player_client is 48 KB, and used by one thread. Nothing is allocated, except
 * by getaddrinfo while player_connect runs. Compact rounds (player_set_compact) take
 * 20 KB of the stack.
 *
 * A device is a char: its letter, such as 'p', or the byte that player_open gives one
 * without a letter, for example laser:1 or imu:0.
 *
 * Lengths are in mm, angles in degrees. x is forward, y to the left, and angles
 * increase counterclockwise. Times are in ms unless a name ends in _us. A
 * negative timeout waits for ever.
 */
#ifndef PLAYER_H
#define PLAYER_H

#define PLAYER_VERSION "1.1.0"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results ---- */

typedef enum {
  PLAYER_OK = 0,
  PLAYER_REFUSED,  /* the server granted less: see player_access and player_why */
  PLAYER_TIMEOUT,  /* the connection is usable; the next call continues */
  PLAYER_CLOSED,   /* no connection, or it is lost: see player_reconnect */
  PLAYER_PROTOCOL, /* a block of wrong size; the next call continues after it */
  PLAYER_USAGE     /* the call makes no sense now; nothing was sent */
} player_result;

/* ---- Data (PROTOCOL 7) ---- */

enum {
  PLAYER_PORT = 6665,
  PLAYER_SONARS = 16,
  PLAYER_LASERS = 361,
  PLAYER_CHANNELS = 32,
  PLAYER_MAX_BLOBS = 10, /* in one channel */
  PLAYER_AXES = 8,
  PLAYER_MAX_READINGS = 8192, /* of a ranger */
  PLAYER_MAX_IO = 128,        /* inputs and outputs of one device */
  PLAYER_MAX_JOINTS = 64
};

typedef struct {
  uint32_t time;         /* ms since the server started */
  int32_t x, y;          /* from the pose at the odometry's origin */
  uint16_t heading;      /* 0..359 */
  int16_t speed;         /* mm/s */
  int16_t turnrate;      /* deg/s */
  uint16_t compass;      /* 0..359 */
  uint8_t stall;         /* zero if the motors turn freely */
} player_position;

typedef struct {
  uint8_t front, rear;   /* bumpers: lowest five bits, set while pressed */
  uint8_t battery;       /* decivolt */
  uint8_t voltage;       /* the same, by the name that the manual's C++ has */
} player_misc;

typedef struct {
  uint8_t state;         /* PLAYER_PADDLES_OPEN ... PLAYER_LIFT_ERROR */
  uint8_t beams;         /* PLAYER_GRIP_LIMIT ... PLAYER_RIGHT_PADDLE_OPEN */
} player_gripper;

enum { /* bits of player_gripper.state */
  PLAYER_PADDLES_OPEN = 1,
  PLAYER_PADDLES_CLOSED = 2,
  PLAYER_PADDLES_MOVING = 4,
  PLAYER_PADDLES_ERROR = 8,
  PLAYER_LIFT_UP = 16,
  PLAYER_LIFT_DOWN = 32,
  PLAYER_LIFT_MOVING = 64,
  PLAYER_LIFT_ERROR = 128
};

enum { /* bits of player_gripper.beams */
  PLAYER_GRIP_LIMIT = 1,
  PLAYER_LIFT_LIMIT = 2,
  PLAYER_OUTER_BEAM = 4,
  PLAYER_INNER_BEAM = 8,
  PLAYER_LEFT_PADDLE_OPEN = 16,
  PLAYER_RIGHT_PADDLE_OPEN = 32
};

enum { /* gripper commands (PROTOCOL 5.1) */
  PLAYER_GRIP_OPEN = 1,
  PLAYER_GRIP_CLOSE = 2,
  PLAYER_GRIP_STOP = 3,
  PLAYER_LIFT_RAISE = 4,
  PLAYER_LIFT_LOWER = 5,
  PLAYER_LIFT_STOP = 6,
  PLAYER_GRIP_STORE = 7,
  PLAYER_GRIP_DEPLOY = 8,
  PLAYER_GRIP_HALT = 15,
  PLAYER_GRIP_PRESS = 16, /* with an argument, in steps of 20 ms */
  PLAYER_LIFT_CARRY = 17  /* with an argument, in steps of 20 ms */
};

typedef struct {
  int16_t pan;           /* -100..100, counterclockwise */
  int16_t tilt;          /* -25..25, up */
  int16_t zoom;          /* 0 wide .. 1023 telephoto */
} player_ptz;

typedef struct {
  uint32_t area;         /* pixels */
  uint8_t x, y;          /* centre: pixels from the top left */
  uint8_t left, right, top, bottom;
} player_blob;

typedef struct {
  uint8_t count[PLAYER_CHANNELS];
  player_blob blobs[PLAYER_CHANNELS][PLAYER_MAX_BLOBS]; /* largest first */
} player_vision;

typedef struct {
  uint32_t buttons;      /* bit n is set while button n is pressed */
  int16_t axes[PLAYER_AXES]; /* -32767..32767, 0 at rest */
} player_joystick;

/* ---- Data of devices that are opened by name ---- */

/* The values of fields that the hardware does not measure: of an int32_t, and of a uint32_t. */
#define PLAYER_UNKNOWN INT32_MIN
#define PLAYER_UNKNOWN_AMOUNT UINT32_MAX

/* Of a laser or a ring of sonars that is not the first; see the members laser and sonar. */
typedef struct {
  uint16_t ranges[PLAYER_LASERS]; /* mm, every half degree, right to left */
} player_laser;
typedef struct {
  uint16_t ranges[PLAYER_SONARS]; /* mm, clockwise from the front left; 0: not fired yet */
} player_sonar;

enum {                              /* readings of a ranger that are no distances */
  PLAYER_NOTHING_IN_RANGE = 0xFFFE, /* it has seen nothing */
  PLAYER_UNKNOWN_RANGE = 0xFFFF     /* it was not taken, or its echo was no distance */
};

/* Any range sensor (PROTOCOL 7.9). player_rays says where each reading looks. */
typedef struct {
  uint16_t unit;                        /* of the readings: mm, from 1 */
  uint16_t count;                       /* readings */
  uint16_t ranges[PLAYER_MAX_READINGS]; /* in units, or PLAYER_NOTHING_IN_RANGE or PLAYER_UNKNOWN_RANGE */
} player_ranger;

/* An inertial measurement unit (PROTOCOL 7.10). Each field may be PLAYER_UNKNOWN. */
typedef struct {
  int32_t roll, pitch, yaw;               /* thousandths of a degree: left side up, front down, counterclockwise */
  int32_t roll_rate, pitch_rate, yaw_rate; /* thousandths of a degree each second */
  int32_t x, y, z;                        /* mm/s^2 ahead, to the left, up; at rest z is 9807 */
} player_imu;

enum { /* player_gps.fix */
  PLAYER_NO_FIX = 0,
  PLAYER_PLAIN_FIX = 1,  /* from satellites alone */
  PLAYER_DGPS_FIX = 2,   /* with corrections */
  PLAYER_FLOAT_FIX = 3,  /* RTK, not settled: some decimetres */
  PLAYER_RTK_FIX = 4,    /* RTK, settled: some centimetres */
  PLAYER_DEAD_RECKON = 5, /* estimated from the last fix */
  PLAYER_UNKNOWN_FIX = 255
};

/* A satellite receiver (PROTOCOL 7.11). */
typedef struct {
  uint8_t fix;                   /* PLAYER_NO_FIX ... PLAYER_UNKNOWN_FIX */
  uint8_t satellites;            /* used; 255: not known */
  int32_t latitude, longitude;   /* 1e-7 degrees, WGS 84, north and east; or PLAYER_UNKNOWN */
  int32_t height;                /* mm above mean sea level; or PLAYER_UNKNOWN */
  uint32_t horizontal, vertical; /* mm, one standard deviation; or PLAYER_UNKNOWN_AMOUNT */
  uint64_t time;                 /* ms of UTC since 1970; 0: not known */
  uint32_t speed;                /* mm/s over ground; or PLAYER_UNKNOWN_AMOUNT */
  uint32_t course;               /* thousandths of a degree clockwise from north; or PLAYER_UNKNOWN_AMOUNT */
} player_gps;

/* Inputs and outputs (PROTOCOL 7.12). player_channels says what they are. */
typedef struct {
  int count;
  int32_t values[PLAYER_MAX_IO]; /* in the unit of the channel, a digital one 0 or 1; or PLAYER_UNKNOWN */
} player_io;

enum { /* bits of player_joint.state; without PLAYER_JOINT_KNOWN the others mean nothing */
  PLAYER_JOINT_MOVING = 1,
  PLAYER_JOINT_POWERED = 2,
  PLAYER_JOINT_AT_LIMIT = 4,
  PLAYER_JOINT_FAILED = 8,
  PLAYER_JOINT_KNOWN = 128
};

enum { PLAYER_ALL_JOINTS = 0xFF }; /* of player_move_joint */

typedef struct {
  int32_t position; /* in the unit of the joint; or PLAYER_UNKNOWN */
  int32_t goal;     /* in the unit of the joint; PLAYER_UNKNOWN: it has none */
  uint8_t state;
} player_joint;

/* Servos, or the joints of an arm (PROTOCOL 7.13). player_channels says what they are. */
typedef struct {
  int count;
  player_joint joints[PLAYER_MAX_JOINTS];
} player_servo;

enum { /* player_goto.state */
  PLAYER_GOTO_IDLE,
  PLAYER_GOTO_DRIVING,
  PLAYER_GOTO_ARRIVED,
  PLAYER_GOTO_BLOCKED, /* it sees no way, and tries on */
  PLAYER_GOTO_STOPPED  /* it has given the goal up: player_goto_reason */
};

enum { PLAYER_ANY_HEADING = 0xFFFF }; /* of a goal: the robot keeps the heading with which it arrives */

/* A goal of a goto device (PROTOCOL 5.6), in the frame of the odometry. A limit of 0 is the device's. */
typedef struct {
  int32_t x, y;       /* mm */
  uint16_t heading;   /* 0..359 deg counterclockwise; or PLAYER_ANY_HEADING */
  uint16_t speed;     /* the highest, mm/s */
  uint16_t turnrate;  /* the highest, deg/s */
  uint16_t tolerance; /* how far from the goal the robot has arrived, mm */
  uint16_t radius;    /* half of the narrowest gap that the robot is to pass, mm */
  uint16_t tag;       /* any number, which the data repeats; a goal that has ended needs another one */
} player_goal;

/* How far a goto device has come (PROTOCOL 7.14). */
typedef struct {
  uint8_t state;     /* PLAYER_GOTO_... */
  uint8_t reason;    /* why it has given the goal up, 0: it has not */
  uint16_t tag;      /* of the goal */
  int32_t x, y;      /* of the goal, mm; or PLAYER_UNKNOWN */
  uint16_t heading;  /* of the goal, deg; or PLAYER_ANY_HEADING */
  uint32_t distance; /* to the goal in a straight line, mm; or 0xFFFFFFFF */
} player_goto;

/* ---- The client ---- */

enum {
  PLAYER_HEADER_ = 3,           /* bytes before the payload of a server message */
  PLAYER_MAX_AGES_ = 255,
  PLAYER_MAX_NAME_ = 64,        /* bytes (PROTOCOL 8.3) */
  PLAYER_MAX_DEVICE_NAME = 24,  /* bytes with the zero: joystick:2147483647 has 20 */
  /* The largest block that makes sense is of a ranger, 16386 bytes. Larger
     blocks are skipped as they arrive. */
  PLAYER_MAX_BLOCK_ = 2 + 2 * PLAYER_MAX_READINGS,
  PLAYER_MAX_HOST_ = 256,
  PLAYER_MAX_ANSWER_ = 2048     /* payload bytes (PROTOCOL 8.9) */
};

typedef struct {
  uint8_t access;        /* from the server's last reply: r, w, a, c, e; 0 before */
  uint8_t wanted;        /* what player_reconnect asked for and did not get; 0: nothing */
  bool has;              /* the latest block had valid data */
  bool aged;             /* taken_us is valid */
  uint16_t size;         /* payload of the latest block */
  uint64_t round;        /* of the latest block */
  uint64_t taken_us;     /* server time */
} player_device_;

/* What a connection runs on if not on its socket alone: see player_tls.h. */
typedef struct player_client player_client;
typedef struct {
  int (*open)(player_client *c);                                    /* 1: done, -1: see errno */
  ptrdiff_t (*send)(player_client *c, const void *b, size_t n);     /* as send */
  ptrdiff_t (*receive)(player_client *c, void *b, size_t n);        /* as recv */
  void (*close)(player_client *c);                                  /* before the socket */
  void (*forget)(player_client *c);                                 /* frees it */
  short events;                                                     /* what to poll for after EAGAIN */
  char why[200];                                                    /* text of EPROTO */
} player_line_;

struct player_client {
  /* The newest data. player_has reports whether a device has sent some. */
  player_position position;
  uint16_t sonar[PLAYER_SONARS]; /* clockwise from the front left; 0: not fired yet */
  uint16_t laser[PLAYER_LASERS]; /* every half degree, right to left */
  player_misc misc;
  player_gripper gripper;
  player_ptz ptz;
  player_vision vision;
  player_joystick joystick;
  uint64_t server_time_us;       /* of the latest round, if device y is read */

  char error[2560];              /* text of the last result that is not PLAYER_OK */
  bool connected;
  int fd;                        /* of the connection, for a program that waits by itself */

  /* What follows is the library's. */
  player_device_ devices[256];
  uint8_t order[256];            /* letters in the order in which they were requested */
  int ordered;
  uint64_t round;                /* number of the current or last round */
  int readers;                   /* devices open for reading */
  int left;                      /* blocks missing from this round */
  int awaited;                   /* replies still to come */
  uint32_t ages[PLAYER_MAX_AGES_];
  int age_count;
  bool fresh;                    /* only new data was asked for */
  bool request_reply;
  int frequency;                 /* 0: the server's default */
  int lifetime;                  /* of commands, ms; 0: none */
  int compact;                   /* form of rounds: PLAYER_PLAIN ... */
  char name[PLAYER_MAX_NAME_ + 1];
  char names[256][PLAYER_MAX_DEVICE_NAME]; /* of devices that the server has listed; "": not listed */
  uint8_t interfaces[256];       /* of these devices, by its letter; 0: one that the library does not know */
  bool listed;                   /* there are some */
  struct {
    void *to;
    uint8_t interface;           /* that the variable is for */
  } bound[256];                  /* by player_bind_... */
  char question;                 /* that was asked last */
  bool answered;                 /* an answer came */
  void (*line)(player_client *c, void *to, const char *text); /* takes its lines, or NULL */
  void *to;
  char reasons[PLAYER_MAX_ANSWER_ + 1]; /* why devices are refused: lines, each ended by a zero; then another zero */

  uint8_t block[PLAYER_HEADER_ + PLAYER_MAX_BLOCK_]; /* the message, or item of a compact one, being received */
  size_t have;                   /* bytes of it, with its header */
  size_t skip;                   /* bytes of it that are not kept */
  bool in_items;                 /* block is an item of a compact message */
  size_t items;                  /* bytes of that message that are still to come */
  int item_head;                 /* bytes of the item's head; -1: the head is complete; -2: the rest is skipped */
  uint32_t item;                 /* the number in the head: 4 times the size of the code, plus the form */

  char host[PLAYER_MAX_HOST_];
  int port;
  uint8_t in[4096];              /* received, not parsed yet: in[begin..end) */
  size_t begin, end;
  player_line_ *line_;           /* NULL: the socket */
};

/* ---- What a round has ---- */

/* Reports whether a device has data: its latest block was valid and not empty. */
bool player_has(const player_client *c, char letter);

/* Reports whether the latest round has a block of this device. It is useful after
   player_set_fresh; otherwise every round has all blocks. */
bool player_new(const player_client *c, char letter);

/* Returns the access that the server granted last: r, w, a, c, e; 0 before. */
char player_access(const player_client *c, char letter);

/* Returns why the last player_request was refused a device, as "missing the robot has
   no such device": a word of PROTOCOL 8.9.1, a space, and text for people. It returns
   "" if the device was not refused, or the server does not say. It is valid until the
   next player_request or player_open. */
const char *player_why(const player_client *c, char letter);

/* Returns the text for people of player_why, or "". */
const char *player_reason(const player_client *c, char letter);

/* Sets *us to the age of a device's data when the server made the latest round.
   It returns false if device y is not read or the device has no data yet. Ages
   over 71 minutes are reported as 71 minutes. */
bool player_age_us(const player_client *c, char letter, uint64_t *us);

/* Returns the name of a device in the list that player_open or player_devices has got from
   the server, for example "laser:1", or "". It is valid until the next call of these. */
const char *player_device_name(const player_client *c, char device);

/* ---- Sockets ---- */

/* Closes the connection. The server then stops the wheels if this client had
   write access to them. The data stays. */
void player_close(player_client *c);

/* Connects to a server. c may be zero or used before. The name is looked up
   without a timeout. The bytes of player_open and the variables of player_bind_... are forgotten. */
player_result player_connect(player_client *c, const char *host, int port, int timeout);

/* Asks for devices and waits for the server's reply: "srpw" is sonar read,
   position write; the accesses are r, w, a (all) and c (close), the devices letters or bytes. Setting up a
   device can take seconds. PLAYER_REFUSED: less was granted, see player_access, and
   is in force; player_why has the reasons. Rounds that arrive meanwhile update the data and are not
   returned by player_read. After PLAYER_TIMEOUT the next call takes the reply. */
player_result player_request(player_client *c, const char *pairs, int timeout);

/* ---- Devices by name (PROTOCOL 2.11) ---- */

/* Opens a device by its name: an interface and an index, for example "laser:1", or an
   interface alone, whose index is 0: "imu". access is 'r', 'w' or 'a'. *device is its byte for
   the other calls; 0: there is none. It asks the server which devices there are unless it
   knows the name; a server that does not know the question has only the devices with letters,
   of index 0. PLAYER_REFUSED: the robot has no such device, and error has those that it has;
   or as player_request, and player_why(c, *device) is the reason. PLAYER_USAGE: the name is
   none. Have the data decoded by player_bind_... before the next player_read. */
player_result player_open(player_client *c, const char *name, char access, char *device, int timeout);

/* Have the data of a device decoded into a variable, which must last until the next
   player_connect, in the place of the member that the first device has. player_has is false
   until its next data. Data that is not the interface's is PLAYER_PROTOCOL of player_read, and
   changes nothing. NULL ends it; without a variable, and a member, the data is not decoded.
   PLAYER_USAGE: the device is of another interface, or not listed. */
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

/* One device of the robot. */
typedef struct {
  char device;
  char name[PLAYER_MAX_DEVICE_NAME]; /* for example laser:1 */
  char driver[48];                   /* for people; a longer name is cut */
} player_entry;

/* Asks which devices the robot has (PROTOCOL 8.9.5). It writes at most room of them, and
   their number. A server that does not know the question has none. */
player_result player_devices(player_client *c, player_entry *entries, size_t room, size_t *count, int timeout);

/* Where readings of a laser, sonar or ranger look from and to: those that follow each other
   from one point in equal steps (PROTOCOL 8.9.6), in the frame of player_part. A scanner
   has one of these, a ring of sonars one for each. */
typedef struct {
  char device;
  int first, count;              /* readings, from 0; how many, from 1 */
  double x, y;                   /* of the point, mm */
  double heading, step;          /* of the first reading, and to the next one: degrees counterclockwise */
  double near_mm, far_mm;        /* the smallest and the largest distance; 0: not known */
  double cone;                   /* how wide a reading sees, degrees, half to each side; 0: a line, or not known */
} player_ray;

/* Asks for them; open the devices first, since a driver may learn it then. It writes at most
   room of them, and their number. A server that does not know the question has none. */
player_result player_rays(player_client *c, player_ray *rays, size_t room, size_t *count, int timeout);

/* An input, an output or a joint (PROTOCOL 8.9.7). */
typedef struct {
  char device;
  char role;                     /* 'i': an input, 'o': an output, 'j': a joint */
  int number;                    /* in the data and in commands, from 0 */
  char unit[16];                 /* of its values, one word: bit, mV, mdeg ...; -: not known; a longer one is cut */
  int32_t min, max;              /* of its values; PLAYER_UNKNOWN: not known */
  char name[64];                 /* for people; may be empty; a longer one is cut */
} player_channel;

/* Asks what the inputs, outputs and joints of the robot are. It writes at most room of them,
   and their number. A server that does not know the question has none. */
player_result player_channels(player_client *c, player_channel *channels, size_t room, size_t *count, int timeout);

/* The colour of a channel of vision (PROTOCOL 8.9.8). */
typedef struct {
  char device;
  int channel;    /* 0 to PLAYER_CHANNELS - 1 */
  uint32_t color; /* 0xRRGGBB */
} player_channel_color;

/* Asks which colours the channels of vision devices have, as far as the server knows them. It
   writes at most room of them, and their number. A server that does not know the question has
   none. */
player_result player_channel_colors(player_client *c, player_channel_color *colors, size_t room, size_t *count, int timeout);

/* ---- The robot, and rounds ---- */

/* One part of a device, in mm and degrees, in the robot's frame: the origin is the centre
   of rotation, x ahead, y to the left (PROTOCOL 8.9.3). */
typedef struct {
  char device;
  int number;                    /* of a sonar: its place in the ranges; otherwise 0 */
  double x, y;                   /* of its middle */
  double heading;                /* counterclockwise */
  /* 0: not known, or it has none. */
  double length, width;          /* along its heading, and across; of position: the robot's body */
  double range;                  /* of a sensor */
  double view;                   /* how wide it sees, half to each side */
} player_part;

/* Asks where the parts of the robot are, and what they cover, as far as the server knows
   it; a device that is open is known best. It writes at most room of them, and their
   number. A server without such answers has none. Devices without letters are among them
   after player_devices or player_open. */
player_result player_geometry(player_client *c, player_part *parts, size_t room, size_t *count, int timeout);

/* Waits for one whole round: a block of every device open for reading. After
   PLAYER_TIMEOUT the next call continues the same round. */
player_result player_read(player_client *c, int timeout);

/* ---- Commands (PROTOCOL 5) ---- */

/* Sends a command of any layout. PLAYER_OK means only that it was sent. */
player_result player_command(player_client *c, char letter, const void *payload, size_t size);

/* Drives: mm/s forward, deg/s counterclockwise. In force until the next call. */
player_result player_set_speed(player_client *c, int speed, int turnrate);

/* Points the camera; units as in player_ptz. */
player_result player_set_ptz(player_client *c, int pan, int tilt, int zoom);

/* Moves the gripper: PLAYER_GRIP_OPEN ... PLAYER_LIFT_CARRY. */
player_result player_set_gripper(player_client *c, uint8_t command, uint8_t argument);

/* Sets an output of an io device to a value in its unit (player_channels). */
player_result player_set_output(player_client *c, char device, uint8_t channel, int32_t value);

/* Moves a joint of a servo device, or PLAYER_ALL_JOINTS, to a goal in its unit, at a speed in
   that unit each second; 0: as the driver moves it. PLAYER_UNKNOWN stops it where it is. */
player_result player_move_joint(player_client *c, char device, uint8_t joint, int32_t goal, uint32_t speed);

/* Stops all joints of a servo device where they are. */
player_result player_stop_joints(player_client *c, char device);

/* Has a goto device drive to a goal around obstacles. Its data say how far it has come. The goal ends
   with the client's commands to position and with their lifetime. */
player_result player_set_goal(player_client *c, char device, const player_goal *goal);

/* Has a goto device give its goal up, and stop the wheels. */
player_result player_stop_goal(player_client *c, char device);

/* Returns a sentence for player_goto.reason. */
const char *player_goto_reason(uint8_t reason);

/* ---- Configuration (PROTOCOL 4, 6). The server does not answer. ---- */

/* Sets the rate of rounds in Hz, 1..65535. The default is 10. */
player_result player_set_frequency(player_client *c, int hz);

/* Sets for how long a command of player_set_speed is good, in ms, at most 60000: the
   wheels stop unless it is repeated in time, also when this program hangs. A client
   with a lifetime yields: its zero speeds stop only what it drives itself. 0: the
   commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it. */
player_result player_set_command_lifetime(player_client *c, int ms);

/* Selects when the server sends rounds: for each player_request_data, or (the
   default) at its frequency. player_read still returns the rounds that were sent
   before, unless a player_request(c, "", ...) follows. */
player_result player_set_request_reply(player_client *c, bool on);

player_result player_request_data(player_client *c);

/* Selects whether a round has only new data (PROTOCOL 8.2). It needs device y
   open for reading, whose block describes the round. */
player_result player_set_fresh(player_client *c, bool on);

/* Selects the form of rounds: compact ones are smaller, without loss (PROTOCOL 8.4). The
   default is PLAYER_PLAIN. Servers that do not know compact rounds send plain ones. */
enum {
  PLAYER_PLAIN = 0,
  PLAYER_COMPACT = 1,
  PLAYER_COMPACT_WHEN_FULL = 2 /* while the network is found full */
};
player_result player_set_compact(player_client *c, int form);

/* Sets the name by which people see this client: at most 64 bytes of printable
   ASCII. "" removes it. */
player_result player_set_name(player_client *c, const char *name);

/* Stops the robot for all, or releases the stop. While it holds, also
   when this client has left, the server drops all commands of all
   clients. It needs no open device, but the right to write; without it the server
   ignores the call. */
player_result player_emergency_stop(player_client *c, bool on);

/* These affect all clients, and need an open device of the microcontroller. The
   robot may start at once when its motors are turned on. */
player_result player_change_motor_state(player_client *c, bool on);
player_result player_change_velocity_control(player_client *c, bool separate);
player_result player_reset_position(player_client *c);

/* Sends a configuration of any layout to a device: a code and its arguments. It needs no access. */
player_result player_config(player_client *c, char device, const void *payload, size_t size);

/* Connects again to the server of player_connect, as often as the timeout allows, sets name, frequency, lifetime, mode,
   form of rounds and freshness as they were, and asks for the devices that were open. Until
   it succeeds, it can be called again. PLAYER_REFUSED: the connection stands, but not all
   devices could be opened; a later call asks for them again. PLAYER_PROTOCOL: a byte of
   player_open means another device now, since the server was started anew with other
   devices; player_connect, and open them by their names. */
player_result player_reconnect(player_client *c, int timeout);

#ifdef __cplusplus
}
#endif

#endif
