/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages: input, cut anywhere. It is part of player.c.
 */

/* Parses up to the end of the next message and sets *used to the number of bytes
   that it took. The bytes may be cut anywhere. */
static outcome parse(player_client *c, const uint8_t *b, size_t n, size_t *used) {
  size_t size, want, take;
  bool kept;
  *used = 0;
  while (!c->in_items && c->have < PLAYER_HEADER_) {
    if (*used == n) return MORE;
    c->block[c->have++] = b[(*used)++];
    if (c->have < PLAYER_HEADER_) continue;
    size = get_u16(c->block + 1);
    c->skip = size > PLAYER_MAX_BLOCK_ ? size : 0;
    if (c->block[0] == 'Z') {
      c->items = size;
      c->in_items = size > 0;
      c->item = 0;
      c->item_head = 0;
      c->have = c->skip = 0;
      if (size == 0) return BLOCK;
    }
  }
  if (c->in_items) return parse_item(c, b, n, used);
  size = get_u16(c->block + 1);
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
  if (take < want) return MORE;
  c->have = 0;
  if (c->block[0] == 'Y') {
    if (kept) take_answer(c, (char *)c->block + PLAYER_HEADER_, size);
    return BLOCK;
  }
  if (c->block[0] != 'r') return store(c, c->block[0], c->block + PLAYER_HEADER_, size, kept);
  if (!kept) {
    snprintf(c->error, sizeof c->error, "reply of %u bytes", (unsigned)size);
    return BAD;
  }
  take_reply(c, c->block + PLAYER_HEADER_, size);
  return REPLY;
}

/* Forgets everything that belongs to a connection. The newest data stays. */
static void forget(player_client *c) {
  memset(c->devices, 0, sizeof c->devices);
  c->ordered = c->readers = c->left = c->awaited = c->age_count = c->frequency = c->lifetime = c->compact = 0;
  c->round = 0;
  c->fresh = c->request_reply = false;
  c->name[0] = 0;
  c->reasons[0] = 0;
  c->have = c->skip = c->items = c->begin = c->end = 0;
  c->in_items = false;
}
