/* SPDX-License-Identifier: Apache-2.0
 *
 * Connecting again, with all that was set. It is part of player.c.
 */

/* The state that player_reconnect restores. */
typedef struct {
  bool fresh, request_reply;
  int frequency, lifetime, compact, ordered;
  uint8_t order[256], access[256];
  char name[PLAYER_MAX_NAME_ + 1];
} memory;

static void remember(const player_client *c, memory *m) {
  int i;
  m->fresh = c->fresh;
  m->request_reply = c->request_reply;
  m->frequency = c->frequency;
  m->lifetime = c->lifetime;
  m->compact = c->compact;
  m->ordered = c->ordered;
  memcpy(m->name, c->name, sizeof m->name);
  for (i = 0; i < c->ordered; i++) {
    const player_device_ *d = &c->devices[c->order[i]];
    m->order[i] = c->order[i];
    m->access[i] = d->wanted ? d->wanted : d->access;
  }
}

/* Keeps it for the next call, without a connection. */
static void keep(player_client *c, const memory *m) {
  int i;
  player_close(c);
  forget(c);
  c->fresh = m->fresh;
  c->request_reply = m->request_reply;
  c->frequency = m->frequency;
  c->lifetime = m->lifetime;
  c->compact = m->compact;
  c->ordered = m->ordered;
  memcpy(c->name, m->name, sizeof m->name);
  for (i = 0; i < m->ordered; i++) {
    c->order[i] = m->order[i];
    c->devices[m->order[i]].access = m->access[i];
  }
}

static player_result resume(player_client *c, const memory *m, int64_t deadline) {
  char pairs[2 * 256 + 1];
  int i, size = 0;
  player_result r = connect_to(c, c->host, c->port, left_until(deadline));
  for (i = 0; i < m->ordered; i++) {
    if (m->access[i] != 'r' && m->access[i] != 'w' && m->access[i] != 'a') continue;
    pairs[size++] = (char)m->order[i];
    pairs[size++] = (char)m->access[i];
  }
  pairs[size] = 0;
  if (r == PLAYER_OK && m->name[0]) r = player_set_name(c, m->name);
  if (r == PLAYER_OK && m->frequency) r = player_set_frequency(c, m->frequency);
  if (r == PLAYER_OK && m->lifetime) r = player_set_command_lifetime(c, m->lifetime);
  if (r == PLAYER_OK && m->request_reply) r = player_set_request_reply(c, true);
  if (r == PLAYER_OK && m->compact) r = player_set_compact(c, m->compact);
  if (r == PLAYER_OK && c->listed) r = list_again(c, deadline);
  if (r == PLAYER_OK && size) r = player_request(c, pairs, left_until(deadline));
  if (r == PLAYER_REFUSED)
    for (i = 0; i < size; i += 2)
      if (!enough(pairs[i + 1], player_access(c, pairs[i]))) c->devices[(uint8_t)pairs[i]].wanted = (uint8_t)pairs[i + 1];
  if ((r == PLAYER_OK || r == PLAYER_REFUSED) && m->fresh && readable(c, 'y') && player_set_fresh(c, true) != PLAYER_OK) r = PLAYER_CLOSED;
  return r;
}

/* The time between two attempts of player_reconnect in ms: a server takes as long to start again. */
#define RECONNECT_PAUSE 100

player_result player_reconnect(player_client *c, int timeout) {
  int64_t deadline = deadline_after(timeout);
  char why[sizeof c->error] = ""; /* of the last attempt that the timeout has not cut short */
  memory m;
  player_result r;
  /* Without a server nothing would end a call without a timeout. */
  if (!c->host[0]) return fail(c, PLAYER_CLOSED, "reconnect", "there was no connection: see player_connect");
  remember(c, &m);
  for (;;) {
    int left;
    r = resume(c, &m, deadline);
    if (r == PLAYER_OK || r == PLAYER_REFUSED) return r;
    keep(c, &m);
    if (r == PLAYER_TIMEOUT && *why) {
      memcpy(c->error, why, sizeof why);
      return PLAYER_CLOSED;
    }
    left = left_until(deadline);
    if (r != PLAYER_CLOSED || (left >= 0 && left <= RECONNECT_PAUSE)) return r;
    memcpy(why, c->error, sizeof why);
    pause_ms(RECONNECT_PAUSE);
  }
}
