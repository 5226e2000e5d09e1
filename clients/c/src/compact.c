/* SPDX-License-Identifier: Apache-2.0
 *
 * Compact messages (PROTOCOL 8.4). It is part of player.c.
 */

enum {
  CHANCE_ONE = 1 << 16, /* a probability of 1 */
  RAREST = 32,          /* keeps a probability from 0 and 1 */
  SETTLED = 40,         /* bits after which a probability adapts no slower */
  STEPS = 4,            /* steps of a difference that are counted one by one */
  LEVELS = 18,          /* classes of the spread */
  LONGEST = 16,         /* bits of the number of steps */
  JUMP = 400,           /* a difference behind which another object begins */
  SPREAD = 30 * 16      /* with which a scan begins, in 1/16 */
};

typedef struct {
  uint32_t p, n; /* that a bit is 1, and how many there were */
} chance;

/* The decoder of 8.4.4. */
typedef struct {
  const uint8_t *src, *end;
  uint32_t code, width;
} bit_reader;

static void normalize(bit_reader *d) {
  while (d->width < 1U << 24) {
    d->code = d->code << 8 | (d->src < d->end ? *d->src++ : 0U);
    d->width <<= 8;
  }
}

static bool get_bit(bit_reader *d, chance *c) {
  uint32_t bound = (uint32_t)((uint64_t)d->width * c->p >> 16), rate = 5U * CHANCE_ONE / (5 * c->n + 8);
  bool one = d->code < bound;
  if (one) {
    d->width = bound;
    c->p += (CHANCE_ONE - c->p) * rate >> 16;
  } else {
    d->code -= bound;
    d->width -= bound;
    c->p -= c->p * rate >> 16;
  }
  if (c->p < RAREST) c->p = RAREST;
  if (c->p > CHANCE_ONE - RAREST) c->p = CHANCE_ONE - RAREST;
  if (c->n < SETTLED) c->n++;
  normalize(d);
  return one;
}

/* Reads k plain bits, 16 at most. */
static uint32_t get_bits(bit_reader *d, int k) {
  uint32_t v;
  d->width >>= k;
  v = d->code / d->width;
  if (v > (1U << k) - 1) v = (1U << k) - 1;
  d->code -= v * d->width;
  normalize(d);
  return v;
}

typedef struct {
  chance same[LEVELS], count[2][STEPS], many[LONGEST + 1];
} chances;

/* Reads a difference (8.4.6). It returns false if it has no meaning. */
static bool get_difference(bit_reader *d, chances *c, int level, int32_t *difference) {
  int low = level / 2, bits = 1;
  uint32_t count = 0;
  bool negative;
  *difference = 0;
  if (get_bit(d, &c->same[level])) return true;
  negative = get_bits(d, 1);
  while (count < STEPS && !get_bit(d, &c->count[level % 2][count])) count++;
  if (count == STEPS) {
    while (!get_bit(d, &c->many[bits]))
      if (++bits > LONGEST) return false;
    count += (1U << (bits - 1) | get_bits(d, bits - 1)) - 1;
  }
  *difference = (int32_t)(count << low | get_bits(d, low)) + 1;
  if (negative) *difference = -*difference;
  return true;
}

/* Divides by 2^n and rounds down, which >> need not do. */
static int32_t halve(int32_t v, int n) { return v < 0 ? ~(~v >> n) : v >> n; }

/* Decodes readings (8.4.5) to their bytes in a payload. */
static bool expand_ranges(uint8_t *to, size_t count, const uint8_t *code, size_t size) {
  bit_reader d = {code, code + size, 0, UINT32_MAX};
  chances c;
  chance *each;
  int32_t last = 0, before = 0, slope = 0, spread = SPREAD;
  bool straight;
  int i;
  for (i = 0; i < 4; i++) d.code = d.code << 8 | (d.src < d.end ? *d.src++ : 0U);
  for (each = c.same; each < c.same + LEVELS; each++) each->p = CHANCE_ONE / 2, each->n = 0;
  for (i = 0; i < 2 * STEPS; i++) c.count[i / STEPS][i % STEPS] = c.same[0];
  for (i = 0; i <= LONGEST; i++) c.many[i] = c.same[0];
  straight = get_bits(&d, 1);
  for (; count > 0; count--, to += 2) {
    int32_t r = straight ? 2 * last - before : last + halve(slope + 128, 8), difference, off;
    int level = 0;
    if (spread >= 16) {
      while (spread >> (level + 5)) level++; /* 2^level <= spread / 16 */
      level = 2 * level + (spread >> (level + 3) & 1);
      if (level > LEVELS - 1) level = LEVELS - 1;
    }
    if (!get_difference(&d, &c, level, &difference)) return false;
    r = (r < 0 ? 0 : r > UINT16_MAX ? UINT16_MAX : r) + difference;
    if (r < 0 || r > UINT16_MAX) return false;
    off = difference < 0 ? -difference : difference;
    if (off > JUMP) {
      slope = 0;
      before = r;
    } else {
      spread += halve((16 * off - spread) * 3, 3);
      slope += halve(256 * (r - last) - slope, 2);
      before = last;
    }
    last = r;
    to[0] = (uint8_t)(r >> 8);
    to[1] = (uint8_t)r;
  }
  return true;
}

/* Reads a number (8.4.2). */
static bool get_number(const uint8_t **at, const uint8_t *end, uint64_t most, uint64_t *v) {
  int shift;
  for (*v = 0, shift = 0; *at < end && shift < 70; shift += 7) {
    uint8_t b = *(*at)++;
    if (shift == 63 && b > 1) return false;
    *v |= (uint64_t)(b & 127) << shift;
    if (b < 128) return *v <= most;
  }
  return false;
}

/* Writes the lowest bytes of a number, the highest first. */
static void put_bytes(uint8_t *to, uint64_t v, int bytes) {
  int i;
  for (i = bytes - 1; i >= 0; i--, v >>= 8) to[i] = (uint8_t)v;
}

/* Decodes fields to a payload and returns its size, 0 if they are none: B, u, U are numbers of 8, 16, 32 bits; i, I are
   signed numbers. */
static size_t expand_fields(uint8_t *to, const char *fields, const uint8_t *at, const uint8_t *end) {
  size_t n = 0;
  uint64_t v;
  for (; *fields; fields++) {
    int bytes = *fields == 'B' ? 1 : *fields == 'u' || *fields == 'i' ? 2 : 4;
    if (!get_number(&at, end, (UINT64_C(1) << 8 * bytes) - 1, &v)) return 0;
    if (*fields == 'i' || *fields == 'I') v = v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
    put_bytes(to + n, v, bytes);
    n += (size_t)bytes;
  }
  return at == end ? n : 0;
}

static size_t expand_vision(uint8_t *to, const uint8_t *at, const uint8_t *end) {
  size_t blobs = 0;
  int i;
  for (i = 0; i < PLAYER_CHANNELS; i++) {
    uint8_t count = 0;
    if (end - at >= 2 && at[0] == i + 1) {
      count = at[1];
      at += 2;
    }
    if (count > PLAYER_MAX_BLOBS) return 0; /* decode_vision takes no more */
    *to++ = (uint8_t)(blobs < 254 ? blobs + 1 : 255);
    *to++ = (uint8_t)(count + 1);
    blobs += count;
  }
  if ((size_t)(end - at) != 1 + 10 * blobs || *at != 0) return 0;
  memcpy(to, at + 1, 10 * blobs);
  return 2 * PLAYER_CHANNELS + 10 * blobs;
}

/* Decodes a part of a laser scan (8.4.7). The other readings are 0. */
static size_t expand_selected(uint8_t *to, const uint8_t *at, const uint8_t *end) {
  uint8_t part[2 * PLAYER_LASERS];
  uint64_t first, step, count, unit, i;
  if (!get_number(&at, end, UINT16_MAX, &first) || !get_number(&at, end, UINT16_MAX, &step) ||
      !get_number(&at, end, PLAYER_LASERS, &count) || !get_number(&at, end, UINT16_MAX, &unit) || step == 0 ||
      (count > 0 && first + (count - 1) * step >= PLAYER_LASERS) ||
      !expand_ranges(part, (size_t)count, at, (size_t)(end - at)))
    return 0;
  memset(to, 0, sizeof part);
  for (i = 0; i < count; i++) {
    uint64_t mm = get_u16(part + 2 * i) * unit;
    put_bytes(to + 2 * (first + i * step), mm > UINT16_MAX ? UINT16_MAX : mm, 2);
  }
  return sizeof part;
}

/* Decodes a code of form 1 (8.4.3) to a payload, and returns its size, 0 if it is none. */
static size_t expand(uint8_t *to, uint8_t interface, const uint8_t *at, const uint8_t *end) {
  uint64_t unit, count, age;
  size_t n = 8;
  switch (interface) {
  case 'p':
    return expand_fields(to, "UIIuiiuB", at, end);
  case 'z':
    return expand_fields(to, "iii", at, end);
  case 'j':
    return expand_fields(to, "Uiiiiiiii", at, end);
  case 'l':
    return expand_ranges(to, PLAYER_LASERS, at, (size_t)(end - at)) ? 2 * PLAYER_LASERS : 0;
  case 's':
    return expand_ranges(to, PLAYER_SONARS, at, (size_t)(end - at)) ? 2 * PLAYER_SONARS : 0;
  case 'R':
    if (!get_number(&at, end, UINT16_MAX, &unit) || !get_number(&at, end, PLAYER_MAX_READINGS, &count)) return 0;
    put_bytes(to, unit, 2);
    return expand_ranges(to + 2, (size_t)count, at, (size_t)(end - at)) ? 2 + 2 * (size_t)count : 0;
  case 'v':
    return expand_vision(to, at, end);
  case 'y':
    if (!get_number(&at, end, UINT64_MAX, &unit)) return 0;
    put_bytes(to, unit, 8);
    for (; at < end; n += 4) {
      if (n + 4 > PLAYER_MAX_BLOCK_ || !get_number(&at, end, UINT32_MAX, &age)) return 0;
      put_bytes(to + n, age - 1, 4);
    }
    return n;
  }
  return 0;
}

/* Leaves out the rest of a compact message. */
static outcome bad_item(player_client *c) {
  snprintf(c->error, sizeof c->error, "a compact message has an item without a meaning");
  c->item_head = -2;
  c->in_items = c->items > 0;
  return BAD;
}

/* Stores the item that is whole. */
static outcome take_item(player_client *c, size_t size, bool kept) {
  uint8_t payload[PLAYER_MAX_BLOCK_], *code = c->block + PLAYER_HEADER_;
  uint32_t form = c->item % 4;
  size_t n = 0;
  c->item = 0;
  if (form == 0) return store(c, c->block[0], code, size, kept);
  if (kept && form == 1) n = expand(payload, interface_of(c, c->block[0]), code, code + size);
  if (kept && form == 2) n = expand_selected(payload, code, code + size);
  return n ? store(c, c->block[0], payload, n, true) : bad_item(c);
}

/* Parses up to the end of the next item of a compact message, as parse does. */
static outcome parse_item(player_client *c, const uint8_t *b, size_t n, size_t *used) {
  size_t size, want, take;
  bool kept;
  if (c->item_head == -2) { /* behind one without a meaning */
    take = c->items < n - *used ? c->items : n - *used;
    c->items -= take;
    *used += take;
    c->in_items = c->items > 0;
    return c->in_items ? MORE : BLOCK;
  }
  while (c->item_head >= 0) {
    uint8_t next;
    if (*used == n) return MORE;
    next = b[(*used)++];
    c->items--;
    if (c->item_head == 0)
      c->block[0] = next;
    else
      c->item |= (uint32_t)(next & 127) << 7 * (c->item_head - 1);
    if (c->item_head > 0 && next < 128) {
      if (c->item / 4 > c->items) return bad_item(c);
      c->item_head = -1;
      c->skip = c->item / 4;
    } else if (++c->item_head > 3 || c->items == 0) {
      return bad_item(c);
    }
  }
  size = c->item / 4;
  kept = size <= PLAYER_MAX_BLOCK_;
  want = c->skip;
  take = want < n - *used ? want : n - *used;
  if (kept) memcpy(c->block + PLAYER_HEADER_ + size - want, b + *used, take);
  c->skip -= take;
  c->items -= take;
  *used += take;
  if (take < want) return MORE;
  c->item_head = 0;
  c->in_items = c->items > 0;
  return take_item(c, size, kept);
}
