/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection, and waiting on it. It is part of player.c.
 */

static int64_t deadline_after(int timeout) { return timeout < 0 ? INT64_MAX : now_ms() + timeout; }

/* Returns the ms until a deadline: the timeout of another call. */
static int left_until(int64_t deadline) {
  int64_t now = now_ms();
  return deadline == INT64_MAX ? -1 : deadline > now ? (int)(deadline - now) : 0;
}

static player_result fail(player_client *c, player_result r, const char *what, const char *why) {
  snprintf(c->error, sizeof c->error, "%.90s%s%.90s", what, *why ? ": " : "", why);
  return r;
}

player_client *player_create(void) { return (player_client *)calloc(1, sizeof(player_client)); }

void player_destroy(player_client *c) {
  if (!c) return;
  player_close(c);
  if (c->line_) c->line_->forget(c);
  free(c);
}

player_line_ *player_get_line_(const player_client *c) { return c->line_; }
void player_set_line_(player_client *c, player_line_ *line) { c->line_ = line; }

player_result player_fail_(player_client *c, player_result r, const char *text) {
  snprintf(c->error, sizeof c->error, "%s", text);
  return r;
}

void player_close(player_client *c) {
  if (c->connected && c->line_) c->line_->close(c);
  if (c->connected) socket_close(c->fd);
  c->connected = false;
}

/* Returns the last failure of the connection. */
static const char *failure_text(const player_client *c) { return c->line_ && errno == EPROTO ? c->line_->why : failure_name(errno); }

/* Returns the events that the connection waits for after EAGAIN. */
static short awaited_events(const player_client *c, short events) { return c->line_ ? c->line_->events : events; }

static player_result lost(player_client *c, const char *what, const char *why) {
  player_close(c);
  return fail(c, PLAYER_CLOSED, what, why);
}

/* Waits until the socket is ready. */
static player_result wait_until(player_client *c, int fd, short events, int64_t deadline) {
  for (;;) {
    int64_t left = deadline == INT64_MAX ? -1 : deadline - now_ms();
    int n;
    if (deadline != INT64_MAX && left < 0) left = 0;
    n = socket_poll(fd, events, left > 1000000 ? 1000000 : (int)left);
    if (n > 0) return PLAYER_OK;
    if (n < 0 && errno != EINTR) return fail(c, PLAYER_CLOSED, "poll", failure_name(errno));
    if (deadline != INT64_MAX && now_ms() >= deadline) return fail(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* Connects to one address until connected, and begins TLS until deadline. */
static player_result dial(player_client *c, const struct addrinfo *a, int64_t connected, int64_t deadline) {
  int failure = 0, fd = socket_open(a);
  player_result r = PLAYER_OK;
  if (fd < 0) return fail(c, PLAYER_CLOSED, "socket", failure_name(errno));
  if (socket_connect(fd, a) < 0) {
    failure = errno;
    if (failure == EINPROGRESS) {
      r = wait_until(c, fd, POLLOUT, connected);
      failure = r == PLAYER_OK ? socket_failure(fd) : 0;
    }
  }
  if (r == PLAYER_OK && failure) r = fail(c, PLAYER_CLOSED, "connect", failure_name(failure));
  if (r != PLAYER_OK) {
    socket_close(fd);
    return r;
  }
  c->fd = fd;
  c->connected = true;
  while (c->line_ && c->line_->open(c) <= 0) {
    if (errno != EAGAIN) return lost(c, "TLS", failure_text(c));
    r = wait_until(c, fd, awaited_events(c, POLLIN), deadline);
    if (r != PLAYER_OK) {
      player_close(c);
      return r;
    }
  }
  return PLAYER_OK;
}

/* Connects. The names of devices and the variables bound to them stay. */
static player_result connect_to(player_client *c, const char *host, int port, int timeout) {
  struct addrinfo hints, *list = NULL, *a;
  int64_t deadline = deadline_after(timeout);
  player_result r = PLAYER_CLOSED;
  char service[16];
  int failure, left = 0;
  player_close(c);
  forget(c);
  if (host != c->host) {
    size_t n = strlen(host);
    if (n >= sizeof c->host) return fail(c, PLAYER_USAGE, "host", "the name is too long");
    memcpy(c->host, host, n + 1);
  }
  c->port = port;
  if (!sockets_started()) return fail(c, PLAYER_CLOSED, "socket", "Winsock does not start");
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  snprintf(service, sizeof service, "%d", port);
  failure = getaddrinfo(host, service, &hints, &list);
  if (failure) return fail(c, PLAYER_CLOSED, host, resolver_failure_name(failure));
  for (a = list; a; a = a->ai_next) left++;
  /* Each address gets an equal part of the time: one that does not answer leaves some for the others. */
  for (a = list; a && r != PLAYER_OK; a = a->ai_next, left--) {
    int64_t now = now_ms();
    r = dial(c, a, deadline == INT64_MAX ? deadline : now + (deadline - now) / left, deadline);
  }
  freeaddrinfo(list);
  return r;
}

player_result player_connect(player_client *c, const char *host, int port, int timeout) {
  memset(c->names, 0, sizeof c->names);
  memset(c->bound, 0, sizeof c->bound);
  c->listed = false;
  return connect_to(c, host, port, timeout);
}

/* Sends one message. */
static player_result send_message(player_client *c, char kind, char letter, const void *payload, size_t size) {
  uint8_t out[4 + MAX_REQUEST];
  size_t sent = 0;
  int64_t deadline;
  if (!c->connected) return fail(c, PLAYER_CLOSED, "not connected", "");
  if (size > MAX_REQUEST) return fail(c, PLAYER_USAGE, "message", "a server takes 512 bytes");
  out[0] = (uint8_t)kind;
  out[1] = (uint8_t)letter;
  out[2] = (uint8_t)(size >> 8);
  out[3] = (uint8_t)size;
  if (size > 0) memcpy(out + 4, payload, size);
  deadline = deadline_after(SEND_TIMEOUT);
  while (sent < 4 + size) {
    ptrdiff_t n = c->line_ ? c->line_->send(c, out + sent, 4 + size - sent) : socket_send(c->fd, out + sent, 4 + size - sent);
    if (n >= 0)
      sent += (size_t)n;
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (wait_until(c, c->fd, awaited_events(c, POLLOUT), deadline) != PLAYER_OK) return lost(c, "send", "the server does not read");
    } else if (errno != EINTR)
      return lost(c, "send", failure_text(c));
  }
  return PLAYER_OK;
}

/* Waits for the next message and parses it. */
static player_result receive(player_client *c, int64_t deadline, outcome *event) {
  for (;;) {
    size_t used;
    ptrdiff_t n;
    player_result r;
    *event = parse(c, c->in + c->begin, c->end - c->begin, &used);
    c->begin += used;
    if (*event != MORE) return PLAYER_OK;
    if (!c->connected) return fail(c, PLAYER_CLOSED, "not connected", "");
    n = c->line_ ? c->line_->receive(c, c->in, sizeof c->in) : socket_receive(c->fd, c->in, sizeof c->in);
    if (n > 0) {
      c->begin = 0;
      c->end = (size_t)n;
    } else if (n == 0) {
      return lost(c, "the server closed the connection", c->have > 0 ? "in the middle of a message" : "");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      r = wait_until(c, c->fd, awaited_events(c, POLLIN), deadline);
      if (r != PLAYER_OK) return r;
    } else if (errno != EINTR) {
      return lost(c, "receive", failure_text(c));
    }
  }
}

/* Reports whether all that was received is used up and the time is over. A server
   that sends without end what makes no round is not waited for. */
static bool late(const player_client *c, int64_t deadline) {
  return c->begin == c->end && deadline != INT64_MAX && now_ms() >= deadline;
}

/* Waits for the reply to the newest request. */
static player_result await_reply(player_client *c, int64_t deadline) {
  for (;;) {
    outcome event;
    player_result r = receive(c, deadline, &event);
    if (r != PLAYER_OK) return r;
    if (event == REPLY && c->awaited == 0) return PLAYER_OK;
    if (late(c, deadline)) return fail(c, PLAYER_TIMEOUT, "timeout", "");
  }
}
