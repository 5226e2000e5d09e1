/* SPDX-License-Identifier: Apache-2.0
 *
 * player.h is a client of the Player protocol (docs/PROTOCOL.md) in C99. It is
 * this one file: include it, there is nothing to link.
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
 * by getaddrinfo while player_connect runs. The first half of this file is the
 * parser, which does no input or output; the second half has POSIX sockets.
 *
 * Lengths are in mm, angles in degrees. x is forward, y to the left, and angles
 * increase counterclockwise. Times are in ms unless a name ends in _us. A
 * negative timeout waits for ever.
 */
#ifndef PLAYER_H
#define PLAYER_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifndef AI_NUMERICSERV
#error "include player.h before other headers, or compile with -D_POSIX_C_SOURCE=200809L"
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
  PLAYER_MAX_REQUEST_ = 512,    /* payload bytes that a server takes */
  PLAYER_MAX_AGES_ = 255,
  PLAYER_MAX_NAME_ = 64,        /* bytes (PROTOCOL 8.3) */
  /* The largest block that makes sense is a full image of vision data, 3264
     bytes. Larger blocks are skipped as they arrive. */
  PLAYER_MAX_BLOCK_ = 64 + PLAYER_CHANNELS * PLAYER_MAX_BLOBS * 10,
  PLAYER_MAX_HOST_ = 256,
  PLAYER_MAX_ANSWER_ = 2048,    /* payload bytes (PROTOCOL 8.9) */
  /* A command that the network does not take within this many ms ends the
     connection: part of it may have been sent. */
  PLAYER_SEND_TIMEOUT_ = 5000
};

typedef struct {
  uint8_t access;        /* from the server's last reply: r, w, a, c, e; 0 before */
  bool has;              /* the latest block had valid data */
  bool aged;             /* taken_us is valid */
  uint16_t size;         /* payload of the latest block */
  uint64_t round;        /* of the latest block */
  uint64_t taken_us;     /* server time */
} player_device_;

typedef struct {
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
  char reasons[PLAYER_MAX_ANSWER_ + 1]; /* lines, each ended by a zero; then another zero */

  uint8_t block[PLAYER_HEADER_ + PLAYER_MAX_BLOCK_]; /* the message being received */
  size_t have;                   /* bytes of it, with its header */
  size_t skip;                   /* bytes of it that are not kept */

  char host[PLAYER_MAX_HOST_];
  int port;
  uint8_t in[4096];              /* received, not parsed yet: in[begin..end) */
  size_t begin, end;
} player_client;

/* ---- The parser: no input, no output ---- */

typedef enum {
  PLAYER_MORE_,  /* all bytes are used up, and no message is complete */
  PLAYER_BLOCK_, /* a block that does not complete a round */
  PLAYER_ROUND_, /* a block that completes a round */
  PLAYER_REPLY_, /* the reply to a request */
  PLAYER_BAD_    /* a message that makes no sense: see error */
} player_event_;

static inline uint16_t player_u16_(const uint8_t *b) { return (uint16_t)(b[0] << 8 | b[1]); }
static inline uint32_t player_u32_(const uint8_t *b) { return (uint32_t)player_u16_(b) << 16 | player_u16_(b + 2); }
static inline uint64_t player_u64_(const uint8_t *b) { return (uint64_t)player_u32_(b) << 32 | player_u32_(b + 4); }

/* Two's complement, without relying on the compiler's conversion. */
static inline int16_t player_i16_(const uint8_t *b) {
  int v = player_u16_(b);
  return (int16_t)(v >= 0x8000 ? v - 0x10000 : v);
}
static inline int32_t player_i32_(const uint8_t *b) {
  int64_t v = player_u32_(b);
  return (int32_t)(v >= INT64_C(0x80000000) ? v - INT64_C(0x100000000) : v);
}

static inline bool player_readable_(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'r' || c->devices[letter].access == 'a';
}
static inline bool player_writable_(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'w' || c->devices[letter].access == 'a';
}

/* Reports whether an access includes what was asked for. */
static inline bool player_enough_(char asked, char granted) {
  return granted == asked || (granted == 'a' && (asked == 'r' || asked == 'w'));
}

/* The bytes of ACTS 1.0 (PROTOCOL 7.7): every byte is stored plus one. The data
   is unchanged if they are not valid. */
static inline bool player_vision_(player_vision *v, const uint8_t *b, size_t size) {
  size_t total = 0, at = 2 * PLAYER_CHANNELS;
  int channel, n, i;
  if (size < at) return false;
  for (channel = 0; channel < PLAYER_CHANNELS; channel++) {
    uint8_t index = (uint8_t)(total < 254 ? total + 1 : 255), count = b[2 * channel + 1];
    if (b[2 * channel] != index || count < 1 || count > PLAYER_MAX_BLOBS + 1) return false;
    total += (size_t)count - 1;
  }
  if (size != at + 10 * total) return false;
  for (; at < size; at += 10)
    for (i = 0; i < 10; i++)
      if (b[at + (size_t)i] == 0 || (i < 4 && b[at + (size_t)i] > 64)) return false;
  at = 2 * PLAYER_CHANNELS;
  for (channel = 0; channel < PLAYER_CHANNELS; channel++) {
    v->count[channel] = (uint8_t)(b[2 * channel + 1] - 1);
    for (n = 0; n < v->count[channel]; n++, at += 10) {
      player_blob *blob = &v->blobs[channel][n];
      blob->area = 0;
      for (i = 0; i < 4; i++) blob->area = blob->area << 6 | (uint32_t)(b[at + (size_t)i] - 1);
      blob->x = (uint8_t)(b[at + 4] - 1);
      blob->y = (uint8_t)(b[at + 5] - 1);
      blob->left = (uint8_t)(b[at + 6] - 1);
      blob->right = (uint8_t)(b[at + 7] - 1);
      blob->top = (uint8_t)(b[at + 8] - 1);
      blob->bottom = (uint8_t)(b[at + 9] - 1);
    }
  }
  return true;
}

/* Stores the payload of a device. It returns false, and changes no data, if the
   payload is not the device's. Letters that the library does not have are
   skipped. */
static inline bool player_decode_(player_client *c, uint8_t letter, const uint8_t *b, size_t size) {
  int i;
  switch (letter) {
  case 'p':
    if (size != 21) return false;
    c->position.time = player_u32_(b);
    c->position.x = player_i32_(b + 4);
    c->position.y = player_i32_(b + 8);
    c->position.heading = player_u16_(b + 12);
    c->position.speed = player_i16_(b + 14);
    c->position.turnrate = player_i16_(b + 16);
    c->position.compass = player_u16_(b + 18);
    c->position.stall = b[20];
    return true;
  case 's':
    if (size != 2 * PLAYER_SONARS) return false;
    for (i = 0; i < PLAYER_SONARS; i++) c->sonar[i] = player_u16_(b + 2 * i);
    return true;
  case 'l':
    if (size != 2 * PLAYER_LASERS) return false;
    for (i = 0; i < PLAYER_LASERS; i++) c->laser[i] = player_u16_(b + 2 * i);
    return true;
  case 'm':
    if (size != 3) return false;
    c->misc.front = b[0];
    c->misc.rear = b[1];
    c->misc.battery = b[2];
    return true;
  case 'g':
    if (size != 2) return false;
    c->gripper.state = b[0];
    c->gripper.beams = b[1];
    return true;
  case 'z':
    if (size != 6) return false;
    c->ptz.pan = player_i16_(b);
    c->ptz.tilt = player_i16_(b + 2);
    c->ptz.zoom = player_i16_(b + 4);
    return true;
  case 'v':
    return player_vision_(&c->vision, b, size);
  case 'j':
    if (size != 4 + 2 * PLAYER_AXES) return false;
    c->joystick.buttons = player_u32_(b);
    for (i = 0; i < PLAYER_AXES; i++) c->joystick.axes[i] = player_i16_(b + 4 + 2 * i);
    return true;
  case 'y':
    if (size < 8 || (size - 8) % 4 != 0 || (size - 8) / 4 > PLAYER_MAX_AGES_) return false;
    c->server_time_us = player_u64_(b);
    c->age_count = (int)((size - 8) / 4);
    for (i = 0; i < c->age_count; i++) c->ages[i] = player_u32_(b + 8 + 4 * i);
    return true;
  }
  return true;
}

/* Counts a block of a round without device y: a round has as many blocks as
   devices are read. A second block of one device starts the next round. */
static inline bool player_count_(player_client *c, uint8_t letter) {
  player_device_ *d = &c->devices[letter];
  if (!player_readable_(c, letter)) return false;
  if (c->left == 0 || d->round == c->round) {
    c->round++;
    c->left = c->readers;
  }
  d->round = c->round;
  return --c->left == 0;
}

/* Takes one block, of which kept bytes of the payload are in b. */
static inline player_event_ player_store_(player_client *c, uint8_t letter, const uint8_t *b, size_t size, bool kept) {
  player_device_ *d = &c->devices[letter];
  bool valid = size == 0 || (kept && player_decode_(c, letter, b, size));
  bool round;
  if (!kept && !memchr("lspgmvzjy", letter, 9)) valid = true; /* of an unknown device */
  d->size = (uint16_t)size;
  d->has = valid && size > 0;
  if (!valid) snprintf(c->error, sizeof c->error, "block of device %c has a payload of %u bytes that is not its data", letter, (unsigned)size);
  if (!player_readable_(c, 'y')) {
    round = player_count_(c, letter);
    return !valid ? PLAYER_BAD_ : round ? PLAYER_ROUND_ : PLAYER_BLOCK_;
  }
  /* A round with device y: its block comes first and has an age for each block
     that follows (PROTOCOL 8.1). */
  if (letter == 'y') {
    c->round++;
    c->left = 0;
    if (valid && size == 0) snprintf(c->error, sizeof c->error, "block of device y without data");
    if (!d->has) return PLAYER_BAD_;
    d->round = c->round;
    c->left = c->age_count;
    return c->left == 0 ? PLAYER_ROUND_ : PLAYER_BLOCK_;
  }
  if (c->left == 0) {
    snprintf(c->error, sizeof c->error, "block of device %c without a block of device y before it", letter);
    return PLAYER_BAD_;
  }
  {
    uint32_t age = c->ages[c->age_count - c->left];
    d->aged = age != UINT32_MAX;
    d->taken_us = c->server_time_us - age;
  }
  d->round = c->round;
  c->left--;
  return !valid ? PLAYER_BAD_ : c->left == 0 ? PLAYER_ROUND_ : PLAYER_BLOCK_;
}

/* Stores the access of each device in a reply. The next block starts a round. */
static inline void player_reply_(player_client *c, const uint8_t *b, size_t size) {
  size_t i;
  int n;
  if (c->awaited > 0) c->awaited--;
  c->left = 0;
  for (i = 0; i + 1 < size; i += 2) {
    if (c->devices[b[i]].access == 0) c->order[c->ordered++] = b[i];
    c->devices[b[i]].access = b[i + 1] ? b[i + 1] : 'e';
  }
  c->readers = 0;
  for (n = 0; n < c->ordered; n++) c->readers += player_readable_(c, c->order[n]);
}

/* Takes an answer to our question why devices are refused (PROTOCOL 8.9). */
static inline void player_answer_(player_client *c, const uint8_t *b, size_t size) {
  size_t i, n = 0;
  if (size == 0 || size > PLAYER_MAX_ANSWER_ || b[0] != 'e') return;
  for (i = 1; i < size; i++) {
    char next = b[i] == '\n' ? 0 : (char)b[i];
    if (next || (n > 0 && c->reasons[n - 1])) c->reasons[n++] = next; /* no empty lines */
  }
  c->reasons[n] = 0;
  if (n < PLAYER_MAX_ANSWER_) c->reasons[n + 1] = 0;
}

/* Parses up to the end of the next message and sets *used to the number of bytes
   that it took. The bytes may be cut anywhere. */
static inline player_event_ player_parse_(player_client *c, const uint8_t *b, size_t n, size_t *used) {
  size_t size, want, take;
  bool kept;
  *used = 0;
  while (c->have < PLAYER_HEADER_) {
    if (*used == n) return PLAYER_MORE_;
    c->block[c->have++] = b[(*used)++];
    if (c->have == PLAYER_HEADER_) {
      size = player_u16_(c->block + 1);
      c->skip = size > PLAYER_MAX_BLOCK_ ? size : 0;
    }
  }
  size = player_u16_(c->block + 1);
  kept = size <= PLAYER_MAX_BLOCK_;
  want = kept ? PLAYER_HEADER_ + size - c->have : c->skip;
  take = want < n - *used ? want : n - *used;
  if (kept) {
    memcpy(c->block + c->have, b + *used, take);
    c->have += take;
  } else {
    c->skip -= take;
  }
  *used += take;
  if (take < want) return PLAYER_MORE_;
  c->have = 0;
  if (c->block[0] == 'Y') {
    if (kept) player_answer_(c, c->block + PLAYER_HEADER_, size);
    return PLAYER_BLOCK_;
  }
  if (c->block[0] != 'r') return player_store_(c, c->block[0], c->block + PLAYER_HEADER_, size, kept);
  if (!kept) {
    snprintf(c->error, sizeof c->error, "reply of %u bytes", (unsigned)size);
    return PLAYER_BAD_;
  }
  player_reply_(c, c->block + PLAYER_HEADER_, size);
  return PLAYER_REPLY_;
}

/* Forgets everything that belongs to a connection. The newest data stays. */
static inline void player_forget_(player_client *c) {
  memset(c->devices, 0, sizeof c->devices);
  c->ordered = c->readers = c->left = c->awaited = c->age_count = c->frequency = c->lifetime = 0;
  c->round = 0;
  c->fresh = c->request_reply = false;
  c->name[0] = 0;
  c->reasons[0] = 0;
  c->have = c->skip = c->begin = c->end = 0;
}

/* ---- What a round has ---- */

/* Reports whether a device has data: its latest block was valid and not empty. */
static inline bool player_has(const player_client *c, char letter) { return c->devices[(uint8_t)letter].has; }

/* Reports whether the latest round has a block of this device. It is useful after
   player_set_fresh; otherwise every round has all blocks. */
static inline bool player_new(const player_client *c, char letter) {
  return c->round > 0 && c->devices[(uint8_t)letter].round == c->round;
}

/* Returns the access that the server granted last: r, w, a, c, e; 0 before. */
static inline char player_access(const player_client *c, char letter) { return (char)c->devices[(uint8_t)letter].access; }

/* Returns why the last player_request was refused a device, as "missing the robot has
   no such device": a word of PROTOCOL 8.9.1, a space, and text for people. It returns
   "" if the device was not refused, or the server does not say. It is valid until the
   next player_request. */
static inline const char *player_why(const player_client *c, char letter) {
  const char *line;
  for (line = c->reasons; *line; line += strlen(line) + 1) {
    const char *space = line[1] == ' ' ? strchr(line + 2, ' ') : NULL;
    if (line[0] == letter && space && space > line + 2 && player_access(c, letter) == 'e') return line + 2;
  }
  return "";
}

/* Returns the text for people of player_why, or "". */
static inline const char *player_reason(const player_client *c, char letter) {
  const char *space = strchr(player_why(c, letter), ' ');
  return space ? space + 1 : "";
}

/* Sets *us to the age of a device's data when the server made the latest round.
   It returns false if device y is not read or the device has no data yet. Ages
   over 71 minutes are reported as 71 minutes. */
static inline bool player_age_us(const player_client *c, char letter, uint64_t *us) {
  const player_device_ *d = &c->devices[(uint8_t)letter];
  if (!d->aged || !player_readable_(c, 'y')) return false;
  *us = c->server_time_us - d->taken_us;
  return true;
}

/* ---- Sockets ---- */

static inline int64_t player_now_(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline int64_t player_deadline_(int timeout) { return timeout < 0 ? INT64_MAX : player_now_() + timeout; }

static inline player_result player_fail_(player_client *c, player_result r, const char *what, const char *why) {
  snprintf(c->error, sizeof c->error, "%.90s%s%.90s", what, *why ? ": " : "", why);
  return r;
}

/* Closes the connection. The server then stops the wheels if this client had
   write access to them. The data stays. */
static inline void player_close(player_client *c) {
  if (c->connected) close(c->fd);
  c->connected = false;
}

static inline player_result player_lost_(player_client *c, const char *what, const char *why) {
  player_close(c);
  return player_fail_(c, PLAYER_CLOSED, what, why);
}

/* Waits until the socket is ready. */
static inline player_result player_wait_(player_client *c, int fd, short events, int64_t deadline) {
  for (;;) {
    struct pollfd p;
    int64_t left = deadline == INT64_MAX ? -1 : deadline - player_now_();
    int n;
    p.fd = fd;
    p.events = events;
    p.revents = 0;
    if (deadline != INT64_MAX && left < 0) left = 0;
    n = poll(&p, 1, left > 1000000 ? 1000000 : (int)left);
    if (n > 0) return PLAYER_OK;
    if (n < 0 && errno != EINTR) return player_fail_(c, PLAYER_CLOSED, "poll", strerror(errno));
    if (deadline != INT64_MAX && player_now_() >= deadline) return player_fail_(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* Connects to one address. */
static inline player_result player_dial_(player_client *c, const struct addrinfo *a, int64_t deadline) {
  int failure = 0, on = 1, fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
  socklen_t size = sizeof failure;
  player_result r = PLAYER_OK;
  if (fd < 0) return player_fail_(c, PLAYER_CLOSED, "socket", strerror(errno));
  if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) failure = errno;
  if (!failure && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
    failure = errno;
    if (failure == EINPROGRESS) {
      r = player_wait_(c, fd, POLLOUT, deadline);
      failure = 0;
      if (r == PLAYER_OK && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) < 0) failure = errno;
    }
  }
  if (r == PLAYER_OK && failure) r = player_fail_(c, PLAYER_CLOSED, "connect", strerror(failure));
  if (r != PLAYER_OK) {
    close(fd);
    return r;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a command is sent at once */
  c->fd = fd;
  c->connected = true;
  return PLAYER_OK;
}

/* Connects to a server. c may be zero or used before. The name is looked up
   without a timeout. */
static inline player_result player_connect(player_client *c, const char *host, int port, int timeout) {
  struct addrinfo hints, *list = NULL, *a;
  int64_t deadline = player_deadline_(timeout);
  player_result r = PLAYER_CLOSED;
  char service[16];
  int failure;
  player_close(c);
  player_forget_(c);
  if (host != c->host) {
    size_t n = strlen(host);
    if (n >= sizeof c->host) return player_fail_(c, PLAYER_USAGE, "host", "the name is too long");
    memcpy(c->host, host, n + 1);
  }
  c->port = port;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  snprintf(service, sizeof service, "%d", port);
  failure = getaddrinfo(host, service, &hints, &list);
  if (failure) return player_fail_(c, PLAYER_CLOSED, host, gai_strerror(failure));
  for (a = list; a && r != PLAYER_OK && r != PLAYER_TIMEOUT; a = a->ai_next) r = player_dial_(c, a, deadline);
  freeaddrinfo(list);
  return r;
}

/* Sends one message. */
static inline player_result player_send_(player_client *c, char kind, char letter, const void *payload, size_t size) {
  uint8_t out[4 + PLAYER_MAX_REQUEST_];
  size_t sent = 0;
  int64_t deadline;
  if (!c->connected) return player_fail_(c, PLAYER_CLOSED, "not connected", "");
  if (size > PLAYER_MAX_REQUEST_) return player_fail_(c, PLAYER_USAGE, "message", "a server takes 512 bytes");
  out[0] = (uint8_t)kind;
  out[1] = (uint8_t)letter;
  out[2] = (uint8_t)(size >> 8);
  out[3] = (uint8_t)size;
  if (size > 0) memcpy(out + 4, payload, size);
  deadline = player_deadline_(PLAYER_SEND_TIMEOUT_);
  while (sent < 4 + size) {
    ssize_t n = send(c->fd, out + sent, 4 + size - sent, MSG_NOSIGNAL);
    if (n >= 0)
      sent += (size_t)n;
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (player_wait_(c, c->fd, POLLOUT, deadline) != PLAYER_OK) return player_lost_(c, "send", "the server does not read");
    } else if (errno != EINTR)
      return player_lost_(c, "send", strerror(errno));
  }
  return PLAYER_OK;
}

/* Waits for the next message and parses it. */
static inline player_result player_receive_(player_client *c, int64_t deadline, player_event_ *event) {
  for (;;) {
    size_t used;
    ssize_t n;
    player_result r;
    *event = player_parse_(c, c->in + c->begin, c->end - c->begin, &used);
    c->begin += used;
    if (*event != PLAYER_MORE_) return PLAYER_OK;
    if (!c->connected) return player_fail_(c, PLAYER_CLOSED, "not connected", "");
    n = recv(c->fd, c->in, sizeof c->in, 0);
    if (n > 0) {
      c->begin = 0;
      c->end = (size_t)n;
    } else if (n == 0) {
      return player_lost_(c, "the server closed the connection", c->have > 0 ? "in the middle of a message" : "");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      r = player_wait_(c, c->fd, POLLIN, deadline);
      if (r != PLAYER_OK) return r;
    } else if (errno != EINTR) {
      return player_lost_(c, "receive", strerror(errno));
    }
  }
}

/* Reports whether all that was received is used up and the time is over. A server
   that sends without end what makes no round is not waited for. */
static inline bool player_late_(const player_client *c, int64_t deadline) {
  return c->begin == c->end && deadline != INT64_MAX && player_now_() >= deadline;
}

/* Waits for the reply to the newest request. */
static inline player_result player_await_(player_client *c, int64_t deadline) {
  for (;;) {
    player_event_ event;
    player_result r = player_receive_(c, deadline, &event);
    if (r != PLAYER_OK) return r;
    if (event == PLAYER_REPLY_ && c->awaited == 0) return PLAYER_OK;
    if (player_late_(c, deadline)) return player_fail_(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* Asks the server why devices are refused. Every server replies to the empty request,
   and the answer comes before. Without an answer there are no reasons. */
static inline void player_explain_(player_client *c, int64_t deadline) {
  if (player_send_(c, 'x', 'y', "qe", 2) != PLAYER_OK || player_send_(c, 'd', 'r', "", 0) != PLAYER_OK) return;
  c->awaited++;
  (void)player_await_(c, deadline); /* the refusal stands */
}

/* Writes into error which devices of a request were granted less, and why. */
static inline player_result player_refused_(player_client *c, const char *pairs) {
  size_t n = 0, i;
  for (i = 0; pairs[i] && n < sizeof c->error; i += 2) {
    char granted = player_access(c, pairs[i]);
    const char *reason = granted == 'e' ? player_reason(c, pairs[i]) : "";
    if (player_enough_(pairs[i + 1], granted)) continue;
    if (granted == 'e' && !*reason) reason = "the server's log has the reason";
    n += (size_t)snprintf(c->error + n, sizeof c->error - n, "%sdevice %c: asked for %c, granted %c%s%s", n ? "; " : "", pairs[i], pairs[i + 1], granted,
                          *reason ? ": " : "", reason);
  }
  return PLAYER_REFUSED;
}

/* Asks for devices and waits for the server's reply: "srpw" is sonar read,
   position write; the accesses are r, w, a (all) and c (close). Setting up a
   device can take seconds. PLAYER_REFUSED: less was granted, see player_access, and
   is in force; player_why has the reasons. Rounds that arrive meanwhile update the data and are not
   returned by player_read. After PLAYER_TIMEOUT the next call takes the reply. */
static inline player_result player_request(player_client *c, const char *pairs, int timeout) {
  int64_t deadline = player_deadline_(timeout);
  size_t size = strlen(pairs), i;
  bool refused = false, failed = false;
  player_result r;
  if (size % 2) return player_fail_(c, PLAYER_USAGE, pairs, "a request has pairs of device and access");
  r = player_send_(c, 'd', 'r', pairs, size);
  if (r != PLAYER_OK) return r;
  c->awaited++;
  c->reasons[0] = 0;
  r = player_await_(c, deadline);
  if (r != PLAYER_OK) return r;
  if (player_u16_(c->block + 1) != size) return player_fail_(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 0; i < size; i += 2)
    if (c->block[PLAYER_HEADER_ + i] != (uint8_t)pairs[i]) return player_fail_(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 1; i < size; i += 2) {
    char granted = player_access(c, pairs[i - 1]);
    refused = refused || !player_enough_(pairs[i], granted);
    failed = failed || (granted == 'e' && pairs[i] != 'e');
  }
  if (failed) player_explain_(c, deadline);
  return refused ? player_refused_(c, pairs) : PLAYER_OK;
}

/* Waits for one whole round: a block of every device open for reading. After
   PLAYER_TIMEOUT the next call continues the same round. */
static inline player_result player_read(player_client *c, int timeout) {
  int64_t deadline = player_deadline_(timeout);
  for (;;) {
    player_event_ event;
    player_result r;
    if (c->connected && c->awaited == 0 && c->readers == 0) return player_fail_(c, PLAYER_USAGE, "no device is open for reading", "");
    if (c->connected && c->awaited == 0 && c->fresh && !player_readable_(c, 'y')) return player_fail_(c, PLAYER_USAGE, "only new data", "needs device y");
    r = player_receive_(c, deadline, &event);
    if (r != PLAYER_OK) return r;
    if (event == PLAYER_ROUND_) return PLAYER_OK;
    if (event == PLAYER_BAD_) return PLAYER_PROTOCOL;
    if (player_late_(c, deadline)) return player_fail_(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* ---- Commands (PROTOCOL 5) ---- */

/* Sends a command of any layout. PLAYER_OK means only that it was sent. */
static inline player_result player_command(player_client *c, char letter, const void *payload, size_t size) {
  if (c->connected && !player_writable_(c, (uint8_t)letter)) return player_fail_(c, PLAYER_USAGE, "command", "no write access to the device");
  return player_send_(c, 'c', letter, payload, size);
}

/* Limits v to the range of an i16, so that a speed never changes its sign. */
static inline void player_put16_(uint8_t *b, int v) {
  unsigned u = (unsigned)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
  b[0] = (uint8_t)(u >> 8);
  b[1] = (uint8_t)u;
}

/* Drives: mm/s forward, deg/s counterclockwise. In force until the next call. */
static inline player_result player_set_speed(player_client *c, int speed, int turnrate) {
  uint8_t b[4];
  player_put16_(b, speed);
  player_put16_(b + 2, turnrate);
  return player_command(c, 'p', b, sizeof b);
}

/* Points the camera; units as in player_ptz. */
static inline player_result player_set_ptz(player_client *c, int pan, int tilt, int zoom) {
  uint8_t b[6];
  player_put16_(b, pan);
  player_put16_(b + 2, tilt);
  player_put16_(b + 4, zoom);
  return player_command(c, 'z', b, sizeof b);
}

/* Moves the gripper: PLAYER_GRIP_OPEN ... PLAYER_LIFT_CARRY. */
static inline player_result player_set_gripper(player_client *c, uint8_t command, uint8_t argument) {
  uint8_t b[2];
  b[0] = command;
  b[1] = argument;
  return player_command(c, 'g', b, sizeof b);
}

/* ---- Configuration (PROTOCOL 4, 6). The server does not answer. ---- */

static inline player_result player_config_(player_client *c, char letter, char code, int size, int value) {
  uint8_t b[3];
  b[0] = (uint8_t)code;
  if (size == 1) b[1] = (uint8_t)value;
  if (size == 2) player_put16_(b + 1, value > INT16_MAX ? value - 0x10000 : value);
  return player_send_(c, 'x', letter, b, 1 + (size_t)size);
}

/* Sets the rate of rounds in Hz, 1..65535. The default is 10. */
static inline player_result player_set_frequency(player_client *c, int hz) {
  player_result r;
  if (hz < 1 || hz > UINT16_MAX) return player_fail_(c, PLAYER_USAGE, "frequency", "1 to 65535 Hz");
  r = player_config_(c, 'y', 'f', 2, hz);
  if (r == PLAYER_OK) c->frequency = hz;
  return r;
}

/* Sets for how long a command of player_set_speed is good, in ms, at most 60000: the
   wheels stop unless it is repeated in time, also when this program hangs. A client
   with a lifetime yields: its zero speeds stop only what it drives itself. 0: the
   commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it. */
static inline player_result player_set_command_lifetime(player_client *c, int ms) {
  player_result r;
  if (ms < 0 || ms > 60000) return player_fail_(c, PLAYER_USAGE, "lifetime", "0 to 60000 ms");
  r = player_config_(c, 'y', 'l', 2, ms);
  if (r == PLAYER_OK) c->lifetime = ms;
  return r;
}

/* Selects when the server sends rounds: for each player_request_data, or (the
   default) at its frequency. player_read still returns the rounds that were sent
   before, unless a player_request(c, "", ...) follows. */
static inline player_result player_set_request_reply(player_client *c, bool on) {
  player_result r = player_config_(c, 'y', 'r', 1, on);
  if (r == PLAYER_OK) c->request_reply = on;
  return r;
}

static inline player_result player_request_data(player_client *c) { return player_config_(c, 'y', 'd', 0, 0); }

/* Selects whether a round has only new data (PROTOCOL 8.2). It needs device y
   open for reading, whose block describes the round. */
static inline player_result player_set_fresh(player_client *c, bool on) {
  player_result r;
  if (on && c->connected && !player_readable_(c, 'y')) return player_fail_(c, PLAYER_USAGE, "only new data", "needs device y");
  r = player_config_(c, 'y', 'n', 1, on);
  if (r == PLAYER_OK) c->fresh = on;
  return r;
}

/* Sets the name by which people see this client: at most 64 bytes of printable
   ASCII. "" removes it. */
static inline player_result player_set_name(player_client *c, const char *name) {
  char payload[1 + PLAYER_MAX_NAME_];
  size_t n = strlen(name), i;
  player_result r;
  if (n > PLAYER_MAX_NAME_) return player_fail_(c, PLAYER_USAGE, "name", "longer than 64 bytes");
  for (i = 0; i < n; i++)
    if (name[i] < ' ' || name[i] > '~') return player_fail_(c, PLAYER_USAGE, "name", "not printable ASCII");
  payload[0] = 'w';
  memcpy(payload + 1, name, n);
  r = player_send_(c, 'x', 'y', payload, 1 + n);
  if (r == PLAYER_OK) memmove(c->name, name, n + 1);
  return r;
}

/* Stops the robot for everybody, or releases the stop. While it holds, which it
   does when this client has left, too, the server drops all commands of all
   clients. It needs no open device, but the right to write; without it the server
   ignores the call. */
static inline player_result player_emergency_stop(player_client *c, bool on) { return player_config_(c, 'y', 'e', 1, on); }

/* These affect all clients, and need an open device of the microcontroller. The
   robot may start at once when its motors are turned on. */
static inline player_result player_change_motor_state(player_client *c, bool on) { return player_config_(c, 'p', 'm', 1, on); }
static inline player_result player_change_velocity_control(player_client *c, bool separate) { return player_config_(c, 'p', 'v', 1, separate); }
static inline player_result player_reset_position(player_client *c) { return player_config_(c, 'p', 'R', 0, 0); }

/* Connects again to the server of player_connect, asks for the devices that were
   open, and sets name, mode, frequency, lifetime and freshness as they were. Until it succeeds,
   it can be called again. */
static inline player_result player_reconnect(player_client *c, int timeout) {
  int64_t deadline = player_deadline_(timeout);
  bool fresh = c->fresh, request_reply = c->request_reply;
  int frequency = c->frequency, lifetime = c->lifetime, n = c->ordered, i, size = 0, left;
  uint8_t order[256], access[256];
  char pairs[2 * 256 + 1], name[PLAYER_MAX_NAME_ + 1];
  player_result r;
  memcpy(name, c->name, sizeof name);
  for (i = 0; i < n; i++) {
    order[i] = c->order[i];
    access[i] = c->devices[order[i]].access;
    if (access[i] != 'r' && access[i] != 'w' && access[i] != 'a') continue;
    pairs[size++] = (char)order[i];
    pairs[size++] = (char)access[i];
  }
  pairs[size] = 0;
  r = player_connect(c, c->host, c->port, timeout);
  if (r == PLAYER_OK && name[0]) r = player_set_name(c, name);
  if (r == PLAYER_OK && request_reply) r = player_set_request_reply(c, true);
  if (r == PLAYER_OK && frequency) r = player_set_frequency(c, frequency);
  if (r == PLAYER_OK && lifetime) r = player_set_command_lifetime(c, lifetime);
  left = deadline == INT64_MAX ? -1 : deadline > player_now_() ? (int)(deadline - player_now_()) : 0;
  if (r == PLAYER_OK) r = player_request(c, pairs, left);
  if (r == PLAYER_OK && fresh) r = player_set_fresh(c, true);
  if (r == PLAYER_OK) return r;
  /* Remember it for the next call. */
  player_close(c);
  player_forget_(c);
  for (i = 0; i < n; i++) {
    c->order[i] = order[i];
    c->devices[order[i]].access = access[i];
  }
  c->ordered = n;
  c->fresh = fresh;
  c->request_reply = request_reply;
  c->frequency = frequency;
  c->lifetime = lifetime;
  memcpy(c->name, name, sizeof name);
  return r;
}

#endif
