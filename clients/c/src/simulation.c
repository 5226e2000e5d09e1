/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulations: the answer of a dashboard, byte by byte, and the calls. It is part of player.c.
 */

/* ---- Simulation: the answer, byte by byte ---- */

/* Returns the next byte, -1 at the end. */
static int simulation_next(player_simulation *w) {
  player_client *c = w->line;
  while (c->begin == c->end && c->connected) {
    ptrdiff_t n = c->line_ ? c->line_->receive(c, c->in, sizeof c->in) : socket_receive(c->fd, c->in, sizeof c->in);
    if (n > 0) {
      c->begin = 0;
      c->end = (size_t)n;
    } else if (n == 0) {
      player_close(c);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      w->broken = wait_until(c, c->fd, awaited_events(c, POLLIN), w->deadline);
      if (w->broken != PLAYER_OK) player_close(c);
    } else if (errno != EINTR) {
      w->broken = lost(c, "receive", failure_text(c));
    }
  }
  return c->begin < c->end ? c->in[c->begin++] : -1;
}

/* Skips white space and returns the byte behind it. */
static int simulation_word(player_simulation *w) {
  int b;
  do b = simulation_next(w);
  while (b == ' ' || b == '\t' || b == '\r' || b == '\n');
  return b;
}

/* Reads the rest of a string, as UTF-8, behind its first quote. */
static bool simulation_string(player_simulation *w, char *to, size_t size) {
  size_t n = 0;
  unsigned high = 0; /* the first half of a surrogate pair */
  for (;;) {
    int b = simulation_next(w), i, length = 1;
    unsigned code;
    uint8_t bytes[4];
    if (b < 0) return false;
    if (b == '"') break;
    bytes[0] = (uint8_t)b;
    if (b == '\\') {
      const char *from = "bfnrt", *letter;
      b = simulation_next(w);
      if (b < 0) return false;
      letter = strchr(from, b);
      bytes[0] = (uint8_t)(letter ? "\b\f\n\r\t"[letter - from] : b);
      if (b == 'u') {
        for (code = 0, i = 0; i < 4; i++) {
          b = simulation_next(w);
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
static bool simulation_number(player_simulation *w, int b, double *to) {
  double value = 0, scale = 1;
  int exponent = 0, given = 0, sign = 1, digits = 0;
  bool negative = b == '-', point = false;
  if (negative) b = simulation_next(w);
  for (; (b >= '0' && b <= '9') || (b == '.' && !point); b = simulation_next(w)) {
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
    b = simulation_next(w);
    if (b == '-') sign = -1;
    if (b == '-' || b == '+') b = simulation_next(w);
    for (; b >= '0' && b <= '9'; b = simulation_next(w))
      if (given < 1000) given = given * 10 + (b - '0');
  }
  if (b >= 0) w->line->begin--;
  exponent += sign * given;
  for (given = exponent < 0 ? -exponent : exponent; given > 0; given--) scale *= 10;
  value = exponent < 0 ? value / scale : value * scale;
  *to = negative ? -value : value;
  return true;
}

/* Reads the rest of a value that is not wanted. */
static bool simulation_skip(player_simulation *w, int b) {
  int depth = 0;
  for (;; b = simulation_word(w)) {
    double number;
    if (b == '{' || b == '[') depth++;
    else if (b == '}' || b == ']') depth--;
    else if (b == '"') {
      if (!simulation_string(w, NULL, 0)) return false;
    } else if (b == '-' || (b >= '0' && b <= '9')) {
      if (!simulation_number(w, b, &number)) return false;
    } else if (b >= 'a' && b <= 'z') {
      while ((b = simulation_next(w)) >= 'a' && b <= 'z') continue;
      if (b >= 0) w->line->begin--;
    } else if (b != ',' && b != ':')
      return false;
    if (depth == 0) return true;
  }
}

/* Where the values of members go. */
typedef enum {
  NUMBER,   /* double */
  WHOLE,    /* int */
  SEED,     /* uint64_t */
  TRUTH,    /* bool */
  TEXT,     /* PLAYER_MAX_MOVER_NAME bytes */
  MOVERS,   /* NULL */
  SIGHTINGS /* player_mover */
} kind_of_member;

typedef struct {
  const char *name;
  kind_of_member kind;
  void *to;
} member;

static bool simulation_list(player_simulation *w, int b, player_mover *of);

/* Reads the rest of an object, whose members end with one without a name. */
static bool simulation_object(player_simulation *w, const member *members) {
  int b = simulation_word(w);
  bool found = b == '}';
  while (!found) {
    char name[32];
    double number;
    const member *m = members;
    if (b != '"' || !simulation_string(w, name, sizeof name) || simulation_word(w) != ':') return false;
    while (m->name && strcmp(m->name, name)) m++;
    b = simulation_word(w);
    if (!m->name) {
      if (!simulation_skip(w, b)) return false;
    } else if (m->kind == TEXT) {
      if (b != '"' || !simulation_string(w, (char *)m->to, PLAYER_MAX_MOVER_NAME)) return false;
    } else if (m->kind == TRUTH) {
      *(bool *)m->to = b == 't';
      if (!simulation_skip(w, b)) return false;
    } else if (m->kind == MOVERS || m->kind == SIGHTINGS) {
      if (!simulation_list(w, b, (player_mover *)m->to)) return false;
    } else {
      if (!simulation_number(w, b, &number)) return false;
      if (m->kind == NUMBER) *(double *)m->to = number;
      if (m->kind == WHOLE) *(int *)m->to = number > -2e9 && number < 2e9 ? (int)number : 0;
      if (m->kind == SEED) *(uint64_t *)m->to = number >= 0 && number < 1.8e19 ? (uint64_t)number : 0;
    }
    b = simulation_word(w);
    found = b == '}';
    if (b == ',') b = simulation_word(w);
    else if (!found) return false;
  }
  return true;
}

/* Reads the rest of the list of movers, or of the list of things that one of them sees. */
static bool simulation_list(player_simulation *w, int b, player_mover *of) {
  player_mover left_out;
  player_sighting unseen;
  if (b != '[') return false;
  b = simulation_word(w);
  while (b != ']') {
    if (b != '{') return false;
    if (of) {
      player_sighting *s = of->seen < PLAYER_MAX_SIGHTINGS ? &of->sees[of->seen] : &unseen;
      const member members[] = {{"name", TEXT, s->name}, {"id", WHOLE, &s->id},
        {"range", NUMBER, &s->range}, {"bearing", NUMBER, &s->bearing}, {NULL, TEXT, NULL}};
      memset(s, 0, sizeof *s);
      if (!simulation_object(w, members)) return false;
      of->seen++;
    } else {
      player_mover *m = w->count < w->room ? &w->movers[w->count] : &left_out;
      const member members[] = {{"name", TEXT, m->name}, {"robot", TRUTH, &m->robot}, {"x", NUMBER, &m->x},
        {"y", NUMBER, &m->y}, {"heading", NUMBER, &m->heading}, {"color", TEXT, m->color}, {"sees", SIGHTINGS, m}, {NULL, TEXT, NULL}};
      memset(m, 0, sizeof *m);
      if (!simulation_object(w, members)) return false;
      w->count++;
    }
    b = simulation_word(w);
    if (b == ',') b = simulation_word(w);
    else if (b != ']') return false;
  }
  return true;
}

/* ---- Simulation: calls ---- */

static player_result simulation_fail(player_simulation *w, player_result r, const char *what) {
  player_close(w->line);
  snprintf(w->error, sizeof w->error, "%.200s:%d: %.255s", w->host, w->port, what);
  return r;
}

static player_result simulation_send(player_simulation *w, const char *text, size_t size) {
  while (size > 0) {
    player_client *c = w->line;
    ptrdiff_t n = c->line_ ? c->line_->send(c, text, size) : socket_send(c->fd, text, size);
    if (n >= 0) {
      text += n;
      size -= (size_t)n;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      player_result r = wait_until(c, c->fd, awaited_events(c, POLLOUT), w->deadline);
      if (r != PLAYER_OK) return r;
    } else if (errno != EINTR)
      return fail(c, PLAYER_CLOSED, "send", failure_text(c));
  }
  return PLAYER_OK;
}

/* Reads the answer. */
static player_result simulation_answer(player_simulation *w) {
  const member members[] = {{"time", NUMBER, &w->time}, {"speed", NUMBER, &w->speed},
    {"paused", TRUTH, &w->paused}, {"finished", TRUTH, &w->finished}, {"seed", SEED, &w->seed},
    {"movers", MOVERS, NULL}, {NULL, TEXT, NULL}};
  char text[256] = "";
  int b = 0, i, status = 0, newlines = 0;
  size_t n = 0;
  for (i = 0; i < 12 && b >= 0; i++) { /* HTTP/1.1 200 */
    b = simulation_next(w);
    if (i < 9 && b != "HTTP/1.1 "[i] && i != 7) break;
    if (i >= 9) status = b >= '0' && b <= '9' ? status * 10 + b - '0' : -1000;
  }
  if (i < 12 || b < 0) status = 0;
  while (newlines < 2 && (b = simulation_next(w)) >= 0)
    if (b != '\r') newlines = b == '\n' ? newlines + 1 : 0;
  if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line->error);
  if (status == 0 && b < 0) return simulation_fail(w, PLAYER_CLOSED, "the server closed the connection");
  if (status == 200) {
    bool is = simulation_word(w) == '{' && simulation_object(w, members);
    if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line->error);
    if (!is) return simulation_fail(w, PLAYER_PROTOCOL, "no dashboard of Player");
    return PLAYER_OK;
  }
  while ((b = simulation_next(w)) >= 0 && b != '\n') { /* people see it on terminals */
    bool control = n > 0 && (uint8_t)text[n - 1] == 0xC2 && b >= 0x80 && b < 0xA0; /* of two bytes in UTF-8 */
    if (control) text[n - 1] = '?';
    if (n + 1 < sizeof text) text[n++] = control || b < ' ' || b == 0x7F ? '?' : (char)b;
  }
  text[n] = 0;
  if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line->error);
  if (status == 400 || status == 409) return simulation_fail(w, PLAYER_REFUSED, text);
  if (status == 403) return simulation_fail(w, PLAYER_USAGE, text);
  if (status == 404) return simulation_fail(w, PLAYER_USAGE, "no simulation: start the server with -stage and -http");
  return simulation_fail(w, PLAYER_PROTOCOL, *text ? text : "no dashboard of Player");
}

static player_result carry_out(player_simulation *w, const char *order, int timeout) {
  static const char hex[] = "0123456789ABCDEF";
  char head[PLAYER_MAX_HOST_ + 64];
  player_result r;
  w->deadline = deadline_after(timeout);
  w->broken = PLAYER_OK;
  w->count = 0;
  r = player_connect(w->line, w->host, w->port, timeout);
  snprintf(head, sizeof head, "%s", order ? "POST /simulation?order=" : "GET /simulation");
  if (r == PLAYER_OK) r = simulation_send(w, head, strlen(head));
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
    r = simulation_send(w, piece, n);
  }
  snprintf(head, sizeof head, " HTTP/1.0\r\nHost: %s%s%s:%d\r\n\r\n", strchr(w->host, ':') ? "[" : "", w->host,
           strchr(w->host, ':') ? "]" : "", w->port);
  if (r == PLAYER_OK) r = simulation_send(w, head, strlen(head));
  if (r != PLAYER_OK) return simulation_fail(w, r, w->line->error);
  r = simulation_answer(w);
  player_close(w->line);
  return r;
}

player_result player_simulation_order(player_simulation *w, const char *order, int timeout) {
  bool given = w->line != NULL;
  player_result r;
  if (!given) w->line = player_create();
  if (!w->line) {
    snprintf(w->error, sizeof w->error, "no memory");
    return PLAYER_USAGE;
  }
  r = carry_out(w, order, timeout);
  if (!given) {
    player_destroy(w->line);
    w->line = NULL;
  }
  return r;
}

player_result player_simulation_state(player_simulation *w, int timeout) { return player_simulation_order(w, NULL, timeout); }
