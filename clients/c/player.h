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
 * A player_client is 25 KB, and used by one thread. Nothing is allocated, except
 * by getaddrinfo while player_connect runs.
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
  PLAYER_AXES = 8
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

/* ---- The client ---- */

enum {
  PLAYER_HEADER_ = 3,           /* bytes before the payload of a server message */
  PLAYER_MAX_AGES_ = 255,
  PLAYER_MAX_NAME_ = 64,        /* bytes (PROTOCOL 8.3) */
  /* The largest block that makes sense is a full image of vision data, 3264
     bytes. Larger blocks are skipped as they arrive. */
  PLAYER_MAX_BLOCK_ = 64 + PLAYER_CHANNELS * PLAYER_MAX_BLOBS * 10,
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
  char name[PLAYER_MAX_NAME_ + 1];
  char question;                 /* that was asked last */
  char reasons[PLAYER_MAX_ANSWER_ + 1]; /* the answer: lines, each ended by a zero; then another zero */

  uint8_t block[PLAYER_HEADER_ + PLAYER_MAX_BLOCK_]; /* the message being received */
  size_t have;                   /* bytes of it, with its header */
  size_t skip;                   /* bytes of it that are not kept */

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
   next player_request or player_geometry. */
const char *player_why(const player_client *c, char letter);

/* Returns the text for people of player_why, or "". */
const char *player_reason(const player_client *c, char letter);

/* Sets *us to the age of a device's data when the server made the latest round.
   It returns false if device y is not read or the device has no data yet. Ages
   over 71 minutes are reported as 71 minutes. */
bool player_age_us(const player_client *c, char letter, uint64_t *us);

/* ---- Sockets ---- */

/* Closes the connection. The server then stops the wheels if this client had
   write access to them. The data stays. */
void player_close(player_client *c);

/* Connects to a server. c may be zero or used before. The name is looked up
   without a timeout. */
player_result player_connect(player_client *c, const char *host, int port, int timeout);

/* Asks for devices and waits for the server's reply: "srpw" is sonar read,
   position write; the accesses are r, w, a (all) and c (close). Setting up a
   device can take seconds. PLAYER_REFUSED: less was granted, see player_access, and
   is in force; player_why has the reasons. Rounds that arrive meanwhile update the data and are not
   returned by player_read. After PLAYER_TIMEOUT the next call takes the reply. */
player_result player_request(player_client *c, const char *pairs, int timeout);

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
   number. A server without such answers has none. */
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

/* Connects again to the server of player_connect, sets name, frequency, lifetime, mode
   and freshness as they were, and asks for the devices that were open. Until it succeeds,
   it can be called again. PLAYER_REFUSED: the connection stands, but not all devices could
   be opened; a later call asks for them again. */
player_result player_reconnect(player_client *c, int timeout);

#ifdef __cplusplus
}
#endif

#endif
