/* SPDX-License-Identifier: Apache-2.0
 *
 * player_simulation.h reads and changes the world of a simulation (docs/STAGE.md),
 * on the address of the dashboard. It is this one file and player.h.
 *
 *   static player_mover movers[20];
 *   player_simulation world = {.host = "localhost", .port = 8080, .movers = movers, .room = 20};
 *   if (player_simulation_order(&world, "{\"seed\":7,\"move\":[{\"name\":\"r0\",\"x\":1,\"y\":0.5,\"heading\":90}]}", 5000))
 *     return fprintf(stderr, "%s\n", world.error), 1;
 *
 * It needs the right to read, and for an order the right to write. A world in step
 * changes between two of its steps: right before its client requests the next data.
 * Nothing is allocated, except by getaddrinfo. Lengths are in m, angles in degrees.
 */
#ifndef PLAYER_SIMULATION_H
#define PLAYER_SIMULATION_H

#include "player.h"

enum {
  PLAYER_MAX_MOVER_NAME = 64, /* bytes with the zero; a longer name is cut */
  PLAYER_MAX_SIGHTINGS = 8    /* of a robot that are kept */
};

/* A fiducial that a robot's fiducial finder sees. */
typedef struct {
  char name[PLAYER_MAX_MOVER_NAME]; /* of the robot or thing that has it */
  int id;                           /* its fiducial_return; 0: too far away to be identified */
  double range, bearing;            /* counterclockwise from the direction of the finder */
} player_sighting;

/* A robot, or a thing that can move. */
typedef struct {
  char name[PLAYER_MAX_MOVER_NAME];
  bool robot;
  double x, y, heading; /* counterclockwise from the x axis */
  int seen;             /* may be more than are kept */
  player_sighting sees[PLAYER_MAX_SIGHTINGS];
} player_mover;

typedef struct {
  const char *host;
  int port;
  player_mover *movers; /* the caller's */
  int room;             /* for so many; the others are counted only */

  /* The state, when a call has returned PLAYER_OK. */
  double time;  /* simulated seconds */
  double speed; /* simulated seconds a second; 0: as fast as possible */
  bool paused, finished;
  uint64_t seed;
  int count; /* of robots, then things; may be more than there is room for */

  char error[512]; /* text of the last result that is not PLAYER_OK */

  /* What follows is the library's. */
  player_client line; /* the connection of a call */
  int64_t deadline;
  player_result broken; /* why next_ has nothing more */
} player_simulation;

/* ---- The answer, byte by byte ---- */

/* Returns the next byte, -1 at the end. */
static inline int player_simulation_next_(player_simulation *w) {
  player_client *c = &w->line;
  while (c->begin == c->end && c->connected) {
    ssize_t n = recv(c->fd, c->in, sizeof c->in, 0);
    if (n > 0) {
      c->begin = 0;
      c->end = (size_t)n;
    } else if (n == 0) {
      player_close(c);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      w->broken = player_wait_(c, c->fd, POLLIN, w->deadline);
      if (w->broken != PLAYER_OK) player_close(c);
    } else if (errno != EINTR) {
      w->broken = player_lost_(c, "receive", strerror(errno));
    }
  }
  return c->begin < c->end ? c->in[c->begin++] : -1;
}

/* Skips white space and returns the byte behind it. */
static inline int player_simulation_word_(player_simulation *w) {
  int b;
  do b = player_simulation_next_(w);
  while (b == ' ' || b == '\t' || b == '\r' || b == '\n');
  return b;
}

/* Reads the rest of a string, as UTF-8, behind its first quote. */
static inline bool player_simulation_string_(player_simulation *w, char *to, size_t size) {
  size_t n = 0;
  unsigned high = 0; /* the first half of a surrogate pair */
  for (;;) {
    int b = player_simulation_next_(w), i, length = 1;
    unsigned code;
    uint8_t bytes[4];
    if (b < 0) return false;
    if (b == '"') break;
    code = (unsigned)b;
    bytes[0] = (uint8_t)b;
    if (b == '\\') {
      const char *from = "bfnrt", *letter;
      b = player_simulation_next_(w);
      if (b < 0) return false;
      letter = strchr(from, b);
      bytes[0] = (uint8_t)(letter ? "\b\f\n\r\t"[letter - from] : b);
      if (b == 'u') {
        for (code = 0, i = 0; i < 4; i++) {
          b = player_simulation_next_(w);
          if (b >= '0' && b <= '9') code = code << 4 | (unsigned)(b - '0');
          else if ((b | 32) >= 'a' && (b | 32) <= 'f') code = code << 4 | (unsigned)((b | 32) - 'a' + 10);
          else return false;
        }
        if (code >= 0xD800 && code < 0xDC00) {
          high = code;
          continue;
        }
        if (code >= 0xDC00 && code < 0xE000 && high) code = 0x10000 + ((high & 0x3FF) << 10) + (code & 0x3FF);
        high = 0;
        length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        bytes[0] = (uint8_t)code;
        if (length > 1) {
          for (i = length - 1; i > 0; i--, code >>= 6) bytes[i] = (uint8_t)(0x80 | (code & 0x3F));
          bytes[0] = (uint8_t)(((0xF00U >> length) & 0xF0) | code);
        }
      }
    }
    for (i = 0; i < length; i++, n++)
      if (n + 1 < size) to[n] = (char)bytes[i];
  }
  if (size > 0) to[n < size ? n : size - 1] = 0;
  return true;
}

/* Reads the rest of a number, whose decimal point is one in every locale. The byte
   behind it is the next one again. */
static inline bool player_simulation_number_(player_simulation *w, int b, double *to) {
  double value = 0, scale = 1;
  int exponent = 0, given = 0, sign = 1, digits = 0;
  bool negative = b == '-', point = false;
  if (negative) b = player_simulation_next_(w);
  for (; (b >= '0' && b <= '9') || (b == '.' && !point); b = player_simulation_next_(w)) {
    if (b == '.') {
      point = true;
      continue;
    }
    digits++;
    value = value * 10 + (b - '0');
    exponent -= point;
  }
  if (digits == 0) return false;
  if (b == 'e' || b == 'E') {
    b = player_simulation_next_(w);
    if (b == '-') sign = -1;
    if (b == '-' || b == '+') b = player_simulation_next_(w);
    for (; b >= '0' && b <= '9'; b = player_simulation_next_(w))
      if (given < 1000) given = given * 10 + (b - '0');
  }
  if (b >= 0) w->line.begin--;
  exponent += sign * given;
  for (given = exponent < 0 ? -exponent : exponent; given > 0; given--) scale *= 10;
  value = exponent < 0 ? value / scale : value * scale;
  *to = negative ? -value : value;
  return true;
}

/* Reads the rest of a value that is not wanted. */
static inline bool player_simulation_skip_(player_simulation *w, int b) {
  int depth = 0;
  for (;; b = player_simulation_word_(w)) {
    double number;
    if (b == '{' || b == '[') depth++;
    else if (b == '}' || b == ']') depth--;
    else if (b == '"') {
      if (!player_simulation_string_(w, NULL, 0)) return false;
    } else if (b == '-' || (b >= '0' && b <= '9')) {
      if (!player_simulation_number_(w, b, &number)) return false;
    } else if (b >= 'a' && b <= 'z') {
      while ((b = player_simulation_next_(w)) >= 'a' && b <= 'z') continue;
      if (b >= 0) w->line.begin--;
    } else if (b != ',' && b != ':')
      return false;
    if (depth == 0) return true;
  }
}

/* What the values of members go to. */
typedef enum {
  PLAYER_NUMBER_,   /* double */
  PLAYER_WHOLE_,    /* int */
  PLAYER_SEED_,     /* uint64_t */
  PLAYER_TRUTH_,    /* bool */
  PLAYER_TEXT_,     /* PLAYER_MAX_MOVER_NAME bytes */
  PLAYER_MOVERS_,   /* NULL */
  PLAYER_SIGHTINGS_ /* player_mover */
} player_kind_;

typedef struct {
  const char *name;
  player_kind_ kind;
  void *to;
} player_member_;

static inline bool player_simulation_list_(player_simulation *w, int b, player_mover *of);

/* Reads the rest of an object, whose members end with one without a name. */
static inline bool player_simulation_object_(player_simulation *w, const player_member_ *members) {
  int b = player_simulation_word_(w);
  bool found = b == '}';
  while (!found) {
    char name[32];
    double number;
    const player_member_ *m = members;
    if (b != '"' || !player_simulation_string_(w, name, sizeof name) || player_simulation_word_(w) != ':') return false;
    while (m->name && strcmp(m->name, name)) m++;
    b = player_simulation_word_(w);
    if (!m->name) {
      if (!player_simulation_skip_(w, b)) return false;
    } else if (m->kind == PLAYER_TEXT_) {
      if (b != '"' || !player_simulation_string_(w, (char *)m->to, PLAYER_MAX_MOVER_NAME)) return false;
    } else if (m->kind == PLAYER_TRUTH_) {
      *(bool *)m->to = b == 't';
      if (!player_simulation_skip_(w, b)) return false;
    } else if (m->kind == PLAYER_MOVERS_ || m->kind == PLAYER_SIGHTINGS_) {
      if (!player_simulation_list_(w, b, (player_mover *)m->to)) return false;
    } else {
      if (!player_simulation_number_(w, b, &number)) return false;
      if (m->kind == PLAYER_NUMBER_) *(double *)m->to = number;
      if (m->kind == PLAYER_WHOLE_) *(int *)m->to = number > -2e9 && number < 2e9 ? (int)number : 0;
      if (m->kind == PLAYER_SEED_) *(uint64_t *)m->to = number >= 0 && number < 1.8e19 ? (uint64_t)number : 0;
    }
    b = player_simulation_word_(w);
    found = b == '}';
    if (b == ',') b = player_simulation_word_(w);
    else if (!found) return false;
  }
  return true;
}

/* Reads the rest of the list of movers, or of what one of them sees. */
static inline bool player_simulation_list_(player_simulation *w, int b, player_mover *of) {
  player_mover left_out;
  player_sighting unseen;
  if (b != '[') return false;
  b = player_simulation_word_(w);
  while (b != ']') {
    if (b != '{') return false;
    if (of) {
      player_sighting *s = of->seen < PLAYER_MAX_SIGHTINGS ? &of->sees[of->seen] : &unseen;
      const player_member_ members[] = {{"name", PLAYER_TEXT_, s->name}, {"id", PLAYER_WHOLE_, &s->id},
        {"range", PLAYER_NUMBER_, &s->range}, {"bearing", PLAYER_NUMBER_, &s->bearing}, {NULL, PLAYER_TEXT_, NULL}};
      memset(s, 0, sizeof *s);
      if (!player_simulation_object_(w, members)) return false;
      of->seen++;
    } else {
      player_mover *m = w->count < w->room ? &w->movers[w->count] : &left_out;
      const player_member_ members[] = {{"name", PLAYER_TEXT_, m->name}, {"robot", PLAYER_TRUTH_, &m->robot}, {"x", PLAYER_NUMBER_, &m->x},
        {"y", PLAYER_NUMBER_, &m->y}, {"heading", PLAYER_NUMBER_, &m->heading}, {"sees", PLAYER_SIGHTINGS_, m}, {NULL, PLAYER_TEXT_, NULL}};
      memset(m, 0, sizeof *m);
      if (!player_simulation_object_(w, members)) return false;
      w->count++;
    }
    b = player_simulation_word_(w);
    if (b == ',') b = player_simulation_word_(w);
    else if (b != ']') return false;
  }
  return true;
}

/* ---- Calls ---- */

static inline player_result player_simulation_fail_(player_simulation *w, player_result r, const char *what) {
  player_close(&w->line);
  snprintf(w->error, sizeof w->error, "%.200s:%d: %.255s", w->host, w->port, what);
  return r;
}

static inline player_result player_simulation_send_(player_simulation *w, const char *text, size_t size) {
  while (size > 0) {
    ssize_t n = send(w->line.fd, text, size, MSG_NOSIGNAL);
    if (n >= 0) {
      text += n;
      size -= (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      player_result r = player_wait_(&w->line, w->line.fd, POLLOUT, w->deadline);
      if (r != PLAYER_OK) return r;
    } else if (errno != EINTR)
      return player_fail_(&w->line, PLAYER_CLOSED, "send", strerror(errno));
  }
  return PLAYER_OK;
}

/* Reads the answer. */
static inline player_result player_simulation_answer_(player_simulation *w) {
  const player_member_ members[] = {{"time", PLAYER_NUMBER_, &w->time}, {"speed", PLAYER_NUMBER_, &w->speed},
    {"paused", PLAYER_TRUTH_, &w->paused}, {"finished", PLAYER_TRUTH_, &w->finished}, {"seed", PLAYER_SEED_, &w->seed},
    {"movers", PLAYER_MOVERS_, NULL}, {NULL, PLAYER_TEXT_, NULL}};
  char text[256] = "";
  int b = 0, i, status = 0, newlines = 0;
  size_t n = 0;
  for (i = 0; i < 12 && b >= 0; i++) { /* HTTP/1.1 200 */
    b = player_simulation_next_(w);
    if (i < 9 && b != "HTTP/1.1 "[i] && i != 7) break;
    if (i >= 9) status = b >= '0' && b <= '9' ? status * 10 + b - '0' : -1000;
  }
  if (i < 12 || b < 0) status = 0;
  while (newlines < 2 && (b = player_simulation_next_(w)) >= 0)
    if (b != '\r') newlines = b == '\n' ? newlines + 1 : 0;
  if (w->broken != PLAYER_OK) return player_simulation_fail_(w, w->broken, w->line.error);
  if (status == 0 && b < 0) return player_simulation_fail_(w, PLAYER_CLOSED, "the server closed the connection");
  if (status == 200) {
    bool is = player_simulation_word_(w) == '{' && player_simulation_object_(w, members);
    if (w->broken != PLAYER_OK) return player_simulation_fail_(w, w->broken, w->line.error);
    if (!is) return player_simulation_fail_(w, PLAYER_PROTOCOL, "no dashboard of Player");
    return PLAYER_OK;
  }
  while ((b = player_simulation_next_(w)) >= 0 && b != '\n')
    if (n + 1 < sizeof text) text[n++] = (char)b;
  text[n] = 0;
  if (w->broken != PLAYER_OK) return player_simulation_fail_(w, w->broken, w->line.error);
  if (status == 400 || status == 409) return player_simulation_fail_(w, PLAYER_REFUSED, text);
  if (status == 403) return player_simulation_fail_(w, PLAYER_USAGE, text);
  if (status == 404) return player_simulation_fail_(w, PLAYER_USAGE, "no simulation: start the server with -stage and -http");
  return player_simulation_fail_(w, PLAYER_PROTOCOL, *text ? text : "no dashboard of Player");
}

/* Has an order carried out and reads the state afterwards. The order is JSON
   (docs/STAGE.md): any of reset, seed, move, speed, pause and step, carried out in
   this order and without another order in between. One that is not possible is
   PLAYER_REFUSED. NULL changes nothing. The timeout is in ms. */
static inline player_result player_simulation_order(player_simulation *w, const char *order, int timeout) {
  static const char hex[] = "0123456789ABCDEF";
  char head[PLAYER_MAX_HOST_ + 64];
  player_result r;
  w->deadline = player_deadline_(timeout);
  w->broken = PLAYER_OK;
  w->count = 0;
  r = player_connect(&w->line, w->host, w->port, timeout);
  snprintf(head, sizeof head, "%s", order ? "POST /simulation?order=" : "GET /simulation");
  if (r == PLAYER_OK) r = player_simulation_send_(w, head, strlen(head));
  while (r == PLAYER_OK && order && *order) {
    char piece[1024];
    size_t n = 0;
    for (; *order && n + 3 <= sizeof piece; order++) {
      unsigned b = (unsigned char)*order;
      if ((b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || b == '.' || b == '-') {
        piece[n++] = *order;
        continue;
      }
      piece[n++] = '%';
      piece[n++] = hex[b >> 4];
      piece[n++] = hex[b & 15];
    }
    r = player_simulation_send_(w, piece, n);
  }
  snprintf(head, sizeof head, " HTTP/1.0\r\nHost: %s%s%s:%d\r\n\r\n", strchr(w->host, ':') ? "[" : "", w->host,
           strchr(w->host, ':') ? "]" : "", w->port);
  if (r == PLAYER_OK) r = player_simulation_send_(w, head, strlen(head));
  if (r != PLAYER_OK) return player_simulation_fail_(w, r, w->line.error);
  r = player_simulation_answer_(w);
  player_close(&w->line);
  return r;
}

/* Reads the state. */
static inline player_result player_simulation_state(player_simulation *w, int timeout) { return player_simulation_order(w, NULL, timeout); }

#endif
