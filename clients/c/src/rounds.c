/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds: which blocks belong to one, and the replies between them (PROTOCOL 3, 8). It is part of player.c.
 */

/* Counts a block of a round without device y: a round has as many blocks as
   devices are read. A second block of one device starts the next round. */
static bool count_block(player_client *c, uint8_t letter) {
  player_device_ *d = &c->devices[letter];
  if (!readable(c, letter)) return false;
  if (c->left == 0 || d->round == c->round) {
    c->round++;
    c->left = c->readers;
  }
  d->round = c->round;
  return --c->left == 0;
}

/* Takes one block, of which kept bytes of the payload are in b. */
static outcome store(player_client *c, uint8_t letter, const uint8_t *b, size_t size, bool kept) {
  player_device_ *d = &c->devices[letter];
  bool valid = size == 0 || (kept && decode(c, letter, b, size));
  bool round;
  char name[PLAYER_MAX_DEVICE_NAME];
  if (!kept && !interface_of(c, letter)) valid = true; /* of an unknown device */
  d->size = (uint16_t)size;
  d->has = valid && size > 0;
  if (!valid)
    snprintf(c->error, sizeof c->error, "block of device %s has a payload of %u bytes that is not its data",
             label(c, letter, name), (unsigned)size);
  if (!readable(c, 'y')) {
    round = count_block(c, letter);
    return !valid ? BAD : round ? ROUND : BLOCK;
  }
  /* A round with device y: its block comes first and has an age for each block
     that follows (PROTOCOL 8.1). */
  if (letter == 'y') {
    c->round++;
    c->left = 0;
    if (valid && size == 0) snprintf(c->error, sizeof c->error, "block of device y without data");
    if (!d->has) return BAD;
    d->round = c->round;
    c->left = c->age_count;
    return c->left == 0 ? ROUND : BLOCK;
  }
  if (c->left == 0) {
    snprintf(c->error, sizeof c->error, "block of device %s without a block of device y before it",
             label(c, letter, name));
    return BAD;
  }
  {
    uint32_t age = c->ages[c->age_count - c->left];
    d->aged = age != UINT32_MAX;
    d->taken_us = c->server_time_us - age;
  }
  d->round = c->round;
  c->left--;
  return !valid ? BAD : c->left == 0 ? ROUND : BLOCK;
}

/* Stores the access of each device in a reply. The next block starts a round. */
static void take_reply(player_client *c, const uint8_t *b, size_t size) {
  size_t i;
  int n;
  if (c->awaited > 0) c->awaited--;
  c->left = 0;
  for (i = 0; i + 1 < size; i += 2) {
    if (c->devices[b[i]].access == 0) c->order[c->ordered++] = b[i];
    c->devices[b[i]].access = b[i + 1] ? b[i + 1] : 'e';
    c->devices[b[i]].wanted = 0;
  }
  c->readers = 0;
  for (n = 0; n < c->ordered; n++) c->readers += readable(c, c->order[n]);
}

/* Takes an answer to our question (PROTOCOL 8.9), line by line. Answers to an earlier question, whose reply is still to
   come as well, are not taken. There is room behind it. */
static void take_answer(player_client *c, char *b, size_t size) {
  char *line = b + 1, *end = b + size, *at;
  if (size == 0 || size > PLAYER_MAX_ANSWER_ || b[0] != c->question || c->awaited != 1 || !c->line) return;
  c->answered = true;
  for (at = line; at < end; at++)
    if (*at != '\n' && (*at < ' ' || *at > '~')) *at = '?'; /* people see it on terminals */
  for (*end = 0; line < end; line = at + 1) {
    at = line + strcspn(line, "\n");
    *at = 0;
    if (*line) c->line(c, c->to, line);
  }
}
