/* SPDX-License-Identifier: Apache-2.0
 *
 * The C client of player.h and player_simulation.h. The parser comes first and does no
 * input or output; then there are POSIX sockets, and simulations.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* before the first header, which takes it as it is then */
#endif

#include "player.h"
#include "player_simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum {
  MAX_REQUEST = 512, /* payload bytes that a server takes */
  /* A command that the network does not take within this many ms ends the
     connection: part of it may have been sent. */
  SEND_TIMEOUT = 5000
};

/* ---- The parser: no input, no output ---- */

typedef enum {
  MORE,  /* all bytes are used up, and no message is complete */
  BLOCK, /* a block that does not complete a round */
  ROUND, /* a block that completes a round */
  REPLY, /* the reply to a request */
  BAD    /* a message that makes no sense: see error */
} outcome;

static uint16_t get_u16(const uint8_t *b) { return (uint16_t)(b[0] << 8 | b[1]); }
static uint32_t get_u32(const uint8_t *b) { return (uint32_t)get_u16(b) << 16 | get_u16(b + 2); }
static uint64_t get_u64(const uint8_t *b) { return (uint64_t)get_u32(b) << 32 | get_u32(b + 4); }

/* Two's complement, without relying on the compiler's conversion. */
static int16_t get_i16(const uint8_t *b) {
  int v = get_u16(b);
  return (int16_t)(v >= 0x8000 ? v - 0x10000 : v);
}
static int32_t get_i32(const uint8_t *b) {
  int64_t v = get_u32(b);
  return (int32_t)(v >= INT64_C(0x80000000) ? v - INT64_C(0x100000000) : v);
}

/* ---- Devices, by their bytes ---- */

/* The interfaces, and the letters of their first devices. The capital letters are never sent: they
   name interfaces whose devices all have bytes of the server. */
static const struct {
  const char *name;
  uint8_t letter;
} interfaces[] = {{"laser", 'l'}, {"sonar", 's'}, {"position", 'p'}, {"gripper", 'g'}, {"misc", 'm'}, {"vision", 'v'},
  {"ptz", 'z'}, {"joystick", 'j'}, {"ranger", 'R'}, {"imu", 'I'}, {"gps", 'G'}, {"io", 'O'}, {"servo", 'S'}, {"goto", 'T'},
  {NULL, 0}};

/* Returns the letter of the interface with which a name begins, 0 if the library does not know it. */
static uint8_t interface_letter(const char *name) {
  size_t n = strcspn(name, ":"), i;
  for (i = 0; interfaces[i].name; i++)
    if (strlen(interfaces[i].name) == n && !memcmp(interfaces[i].name, name, n)) return interfaces[i].letter;
  return 0;
}

/* Returns the letter of the interface of a device, 0 if the library does not know it. */
static uint8_t interface_of(const player_client *c, uint8_t device) {
  if (c->names[device][0]) return c->interfaces[device];
  return device && strchr("lspgmvzjy", device) ? device : 0;
}

/* Returns the byte of a device by its name in the list, which has n bytes, 0 without one. */
static uint8_t listed_as(const player_client *c, const char *name, size_t n) {
  int i;
  for (i = 1; c->listed && n > 0 && n < PLAYER_MAX_DEVICE_NAME && i < 256; i++)
    if (!memcmp(c->names[i], name, n) && !c->names[i][n]) return (uint8_t)i;
  return 0;
}

/* Returns the byte of the device with which a line begins, 0 if it is not known, and has *rest behind it. */
static uint8_t device_of(const player_client *c, const char *line, const char **rest) {
  size_t n = strcspn(line, " ");
  uint8_t device = listed_as(c, line, n);
  *rest = line + n + (line[n] == ' ');
  return device || n != 1 ? device : (uint8_t)line[0];
}

/* Writes a device for people: its letter, its name in the list, or its number. */
static const char *label(const player_client *c, uint8_t device, char to[PLAYER_MAX_DEVICE_NAME]) {
  bool lettered = !c->names[device][0] || c->interfaces[device] == device;
  if (!lettered) return c->names[device];
  snprintf(to, PLAYER_MAX_DEVICE_NAME, device > ' ' && device <= '~' ? "%c" : "%d", device);
  return to;
}

static bool readable(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'r' || c->devices[letter].access == 'a';
}
static bool writable(const player_client *c, uint8_t letter) {
  return c->devices[letter].access == 'w' || c->devices[letter].access == 'a';
}

/* Reports whether an access includes what was asked for. */
static bool enough(char asked, char granted) {
  return granted == asked || (granted == 'a' && (asked == 'r' || asked == 'w'));
}

/* The bytes of ACTS 1.0 (PROTOCOL 7.7): every byte is stored plus one. The data
   is unchanged if they are not valid. */
static bool decode_vision(player_vision *v, const uint8_t *b, size_t size) {
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

static bool decode_ranges(uint16_t *to, size_t count, const uint8_t *b, size_t size) {
  size_t i;
  if (size != 2 * count) return false;
  for (i = 0; i < count; i++) to[i] = get_u16(b + 2 * i);
  return true;
}

static bool decode_position(player_position *to, const uint8_t *b, size_t size) {
  if (size != 21) return false;
  to->time = get_u32(b);
  to->x = get_i32(b + 4);
  to->y = get_i32(b + 8);
  to->heading = get_u16(b + 12);
  to->speed = get_i16(b + 14);
  to->turnrate = get_i16(b + 16);
  to->compass = get_u16(b + 18);
  to->stall = b[20];
  return true;
}

static bool decode_misc(player_misc *to, const uint8_t *b, size_t size) {
  if (size != 3) return false;
  to->front = b[0];
  to->rear = b[1];
  to->battery = to->voltage = b[2];
  return true;
}

static bool decode_gripper(player_gripper *to, const uint8_t *b, size_t size) {
  if (size != 2) return false;
  to->state = b[0];
  to->beams = b[1];
  return true;
}

static bool decode_ptz(player_ptz *to, const uint8_t *b, size_t size) {
  if (size != 6) return false;
  to->pan = get_i16(b);
  to->tilt = get_i16(b + 2);
  to->zoom = get_i16(b + 4);
  return true;
}

static bool decode_joystick(player_joystick *to, const uint8_t *b, size_t size) {
  int i;
  if (size != 4 + 2 * PLAYER_AXES) return false;
  to->buttons = get_u32(b);
  for (i = 0; i < PLAYER_AXES; i++) to->axes[i] = get_i16(b + 4 + 2 * i);
  return true;
}

static bool decode_ranger(player_ranger *to, const uint8_t *b, size_t size) {
  if (size < 2 || size % 2 || size > 2 + 2 * PLAYER_MAX_READINGS || get_u16(b) == 0) return false;
  to->unit = get_u16(b);
  to->count = (uint16_t)(size / 2 - 1);
  return decode_ranges(to->ranges, to->count, b + 2, size - 2);
}

static bool decode_imu(player_imu *to, const uint8_t *b, size_t size) {
  if (size != 36) return false;
  to->roll = get_i32(b);
  to->pitch = get_i32(b + 4);
  to->yaw = get_i32(b + 8);
  to->roll_rate = get_i32(b + 12);
  to->pitch_rate = get_i32(b + 16);
  to->yaw_rate = get_i32(b + 20);
  to->x = get_i32(b + 24);
  to->y = get_i32(b + 28);
  to->z = get_i32(b + 32);
  return true;
}

static bool decode_gps(player_gps *to, const uint8_t *b, size_t size) {
  if (size != 38) return false;
  to->fix = b[0];
  to->satellites = b[1];
  to->latitude = get_i32(b + 2);
  to->longitude = get_i32(b + 6);
  to->height = get_i32(b + 10);
  to->horizontal = get_u32(b + 14);
  to->vertical = get_u32(b + 18);
  to->time = get_u64(b + 22);
  to->speed = get_u32(b + 30);
  to->course = get_u32(b + 34);
  return true;
}

static bool decode_io(player_io *to, const uint8_t *b, size_t size) {
  int i;
  if (size % 4 || size > 4 * PLAYER_MAX_IO) return false;
  to->count = (int)(size / 4);
  for (i = 0; i < to->count; i++) to->values[i] = get_i32(b + 4 * i);
  return true;
}

static bool decode_servo(player_servo *to, const uint8_t *b, size_t size) {
  int i;
  if (size % 9 || size > 9 * PLAYER_MAX_JOINTS) return false;
  to->count = (int)(size / 9);
  for (i = 0; i < to->count; i++, b += 9) {
    to->joints[i].position = get_i32(b);
    to->joints[i].goal = get_i32(b + 4);
    to->joints[i].state = b[8];
  }
  return true;
}

static bool decode_goto(player_goto *to, const uint8_t *b, size_t size) {
  if (size != 18) return false;
  to->state = b[0];
  to->reason = b[1];
  to->tag = get_u16(b + 2);
  to->x = get_i32(b + 4);
  to->y = get_i32(b + 8);
  to->heading = get_u16(b + 12);
  to->distance = get_u32(b + 14);
  return true;
}

/* Returns the member for the data of the first device of an interface, or NULL. */
static void *member_for(player_client *c, uint8_t letter) {
  switch (letter) {
  case 'p':
    return &c->position;
  case 's':
    return c->sonar;
  case 'l':
    return c->laser;
  case 'm':
    return &c->misc;
  case 'g':
    return &c->gripper;
  case 'z':
    return &c->ptz;
  case 'v':
    return &c->vision;
  case 'j':
    return &c->joystick;
  }
  return NULL;
}

/* Stores the payload of a device. It returns false, and changes no data, if the
   payload is not the device's. Devices that have no place for data are skipped. */
static bool decode(player_client *c, uint8_t device, const uint8_t *b, size_t size) {
  int i;
  uint8_t interface = interface_of(c, device);
  bool bound = c->bound[device].to && c->bound[device].interface == interface;
  void *to = bound ? c->bound[device].to : interface == device ? member_for(c, device) : NULL;
  if (!to && interface != 'y') return true;
  switch (interface) {
  case 'p':
    return decode_position((player_position *)to, b, size);
  case 's':
    return decode_ranges((uint16_t *)to, PLAYER_SONARS, b, size);
  case 'l':
    return decode_ranges((uint16_t *)to, PLAYER_LASERS, b, size);
  case 'm':
    return decode_misc((player_misc *)to, b, size);
  case 'g':
    return decode_gripper((player_gripper *)to, b, size);
  case 'z':
    return decode_ptz((player_ptz *)to, b, size);
  case 'v':
    return decode_vision((player_vision *)to, b, size);
  case 'j':
    return decode_joystick((player_joystick *)to, b, size);
  case 'R':
    return decode_ranger((player_ranger *)to, b, size);
  case 'I':
    return decode_imu((player_imu *)to, b, size);
  case 'G':
    return decode_gps((player_gps *)to, b, size);
  case 'O':
    return decode_io((player_io *)to, b, size);
  case 'S':
    return decode_servo((player_servo *)to, b, size);
  case 'T':
    return decode_goto((player_goto *)to, b, size);
  case 'y':
    if (size < 8 || (size - 8) % 4 != 0 || (size - 8) / 4 > PLAYER_MAX_AGES_) return false;
    c->server_time_us = get_u64(b);
    c->age_count = (int)((size - 8) / 4);
    for (i = 0; i < c->age_count; i++) c->ages[i] = get_u32(b + 8 + 4 * i);
    return true;
  }
  return true;
}

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

/* ---- Compact messages (PROTOCOL 8.4) ---- */

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

/* ---- What a round has ---- */

bool player_has(const player_client *c, char letter) { return c->devices[(uint8_t)letter].has; }

bool player_new(const player_client *c, char letter) {
  return c->round > 0 && c->devices[(uint8_t)letter].round == c->round;
}

char player_access(const player_client *c, char letter) { return (char)c->devices[(uint8_t)letter].access; }

const char *player_why(const player_client *c, char letter) {
  const char *line, *rest;
  for (line = c->reasons; *line; line += strlen(line) + 1) {
    uint8_t device = device_of(c, line, &rest);
    const char *text = strchr(rest, ' ');
    if (device && device == (uint8_t)letter && text && text > rest && player_access(c, letter) == 'e') return rest;
  }
  return "";
}

const char *player_reason(const player_client *c, char letter) {
  const char *space = strchr(player_why(c, letter), ' ');
  return space ? space + 1 : "";
}

bool player_age_us(const player_client *c, char letter, uint64_t *us) {
  const player_device_ *d = &c->devices[(uint8_t)letter];
  if (!d->aged || !readable(c, 'y')) return false;
  *us = c->server_time_us - d->taken_us;
  return true;
}

const char *player_device_name(const player_client *c, char device) { return c->names[(uint8_t)device]; }

/* ---- Sockets ---- */

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t deadline_after(int timeout) { return timeout < 0 ? INT64_MAX : now_ms() + timeout; }

/* Returns the ms until a deadline, as the timeout of another call. */
static int left_until(int64_t deadline) {
  int64_t now = now_ms();
  return deadline == INT64_MAX ? -1 : deadline > now ? (int)(deadline - now) : 0;
}

static player_result fail(player_client *c, player_result r, const char *what, const char *why) {
  snprintf(c->error, sizeof c->error, "%.90s%s%.90s", what, *why ? ": " : "", why);
  return r;
}

void player_close(player_client *c) {
  if (c->connected && c->line_) c->line_->close(c);
  if (c->connected) close(c->fd);
  c->connected = false;
}

/* Returns what the last failure of the connection was. */
static const char *failure_text(const player_client *c) { return c->line_ && errno == EPROTO ? c->line_->why : strerror(errno); }

/* Returns what the connection waits for after EAGAIN. */
static short awaited_events(const player_client *c, short events) { return c->line_ ? c->line_->events : events; }

static player_result lost(player_client *c, const char *what, const char *why) {
  player_close(c);
  return fail(c, PLAYER_CLOSED, what, why);
}

/* Waits until the socket is ready. */
static player_result wait_until(player_client *c, int fd, short events, int64_t deadline) {
  for (;;) {
    struct pollfd p;
    int64_t left = deadline == INT64_MAX ? -1 : deadline - now_ms();
    int n;
    p.fd = fd;
    p.events = events;
    p.revents = 0;
    if (deadline != INT64_MAX && left < 0) left = 0;
    n = poll(&p, 1, left > 1000000 ? 1000000 : (int)left);
    if (n > 0) return PLAYER_OK;
    if (n < 0 && errno != EINTR) return fail(c, PLAYER_CLOSED, "poll", strerror(errno));
    if (deadline != INT64_MAX && now_ms() >= deadline) return fail(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* Connects to one address until connected, and begins TLS until deadline. */
static player_result dial(player_client *c, const struct addrinfo *a, int64_t connected, int64_t deadline) {
  int failure = 0, on = 1, fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
  socklen_t size = sizeof failure;
  player_result r = PLAYER_OK;
  if (fd < 0) return fail(c, PLAYER_CLOSED, "socket", strerror(errno));
  if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) failure = errno;
  if (!failure && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
    failure = errno;
    if (failure == EINPROGRESS) {
      r = wait_until(c, fd, POLLOUT, connected);
      failure = 0;
      if (r == PLAYER_OK && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) < 0) failure = errno;
    }
  }
  if (r == PLAYER_OK && failure) r = fail(c, PLAYER_CLOSED, "connect", strerror(failure));
  if (r != PLAYER_OK) {
    close(fd);
    return r;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a command is sent at once */
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

/* Connects. The names of devices and what is bound to them stay. */
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
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  snprintf(service, sizeof service, "%d", port);
  failure = getaddrinfo(host, service, &hints, &list);
  if (failure) return fail(c, PLAYER_CLOSED, host, gai_strerror(failure));
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
    ptrdiff_t n = c->line_ ? c->line_->send(c, out + sent, 4 + size - sent) : send(c->fd, out + sent, 4 + size - sent, MSG_NOSIGNAL);
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
    n = c->line_ ? c->line_->receive(c, c->in, sizeof c->in) : recv(c->fd, c->in, sizeof c->in, 0);
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

/* Asks the server a question, and has the lines of its answers taken. Every server replies to the empty request, and
   the answers come before. */
static player_result ask(player_client *c, char question, void (*line)(player_client *, void *, const char *), void *to,
                         int64_t deadline) {
  char text[2] = {'q', 0};
  player_result r;
  text[1] = c->question = question;
  c->answered = false;
  r = send_message(c, 'x', 'y', text, sizeof text);
  if (r == PLAYER_OK) r = send_message(c, 'd', 'r', "", 0);
  if (r != PLAYER_OK) return r;
  c->line = line;
  c->to = to;
  c->awaited++;
  r = await_reply(c, deadline);
  c->line = NULL;
  c->to = NULL;
  return r;
}

/* Where what is in lines goes: the caller's list. */
typedef struct {
  void *items;
  size_t room, count;
} collected;

/* Returns where the next one goes, or NULL if there is no room. */
static void *next_of(collected *l, size_t size) {
  return l->count < l->room ? (char *)l->items + size * l->count++ : NULL;
}

/* Reads a number such as -12.5 at *text, after spaces, and moves *text behind it.
   Unlike strtod it does not depend on the country. */
static bool read_number(const char **text, double *to) {
  const char *p = *text + strspn(*text, " ");
  bool negative = *p == '-';
  double value = 0, unit = 1;
  p += negative;
  if (*p < '0' || *p > '9') return false;
  for (; *p >= '0' && *p <= '9'; p++) value = value * 10 + (*p - '0');
  if (*p == '.')
    for (p++; *p >= '0' && *p <= '9'; p++) value = value * 10 + (*p - '0'), unit *= 10;
  if (*p && *p != ' ') return false;
  if (value > DBL_MAX) return false; /* infinite: so many digits are no length */
  *to = (negative ? -value : value) / unit;
  *text = p;
  return true;
}

static void take_part(player_client *c, void *to, const char *line) {
  player_part p, *next;
  double number = 0;
  const char *at;
  p.device = (char)device_of(c, line, &at);
  if (!p.device || !read_number(&at, &number) || number < 0 || number > 255) return;
  p.number = (int)number;
  if (read_number(&at, &p.x) && read_number(&at, &p.y) && read_number(&at, &p.heading) && read_number(&at, &p.length) &&
      read_number(&at, &p.width) && read_number(&at, &p.range) && read_number(&at, &p.view) &&
      (next = (player_part *)next_of((collected *)to, sizeof *next)) != NULL)
    *next = p;
}

player_result player_geometry(player_client *c, player_part *parts, size_t room, size_t *count, int timeout) {
  collected l = {NULL, 0, 0};
  player_result r;
  l.items = parts;
  l.room = room;
  r = ask(c, 'g', take_part, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.count : 0;
  return r;
}

/* Reads a whole number at *text, up to a space, and moves *text behind that. */
static bool read_whole(const char **text, int64_t least, int64_t most, int64_t *to) {
  const char *p = *text;
  bool negative = *p == '-';
  int64_t v = 0;
  p += negative;
  if (*p < '0' || *p > '9') return false;
  for (; *p >= '0' && *p <= '9'; p++)
    if ((v = v * 10 + (*p - '0')) > UINT32_MAX) return false;
  if (*p != ' ') return false;
  *to = negative ? -v : v;
  *text = p + 1;
  return *to >= least && *to <= most;
}

static void take_ray(player_client *c, void *to, const char *line) {
  player_ray ray, *next;
  int64_t first, count;
  const char *at;
  ray.device = (char)device_of(c, line, &at);
  if (!ray.device || !read_whole(&at, 0, PLAYER_MAX_READINGS - 1, &first) ||
      !read_whole(&at, 1, PLAYER_MAX_READINGS - first, &count))
    return;
  ray.first = (int)first;
  ray.count = (int)count;
  if (read_number(&at, &ray.x) && read_number(&at, &ray.y) && read_number(&at, &ray.heading) &&
      read_number(&at, &ray.step) && read_number(&at, &ray.near_mm) && read_number(&at, &ray.far_mm) && read_number(&at, &ray.cone) &&
      (next = (player_ray *)next_of((collected *)to, sizeof *next)) != NULL)
    *next = ray;
}

player_result player_rays(player_client *c, player_ray *rays, size_t room, size_t *count, int timeout) {
  collected l = {NULL, 0, 0};
  player_result r;
  l.items = rays;
  l.room = room;
  r = ask(c, 'r', take_ray, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.count : 0;
  return r;
}

static void take_channel(player_client *c, void *to, const char *line) {
  static const char *const roles[] = {"input ", "output ", "joint "};
  player_channel *next;
  const char *at, *unit;
  uint8_t device = device_of(c, line, &at);
  int64_t number, least, most;
  size_t size;
  int role = 0;
  if (!device || !read_whole(&at, 0, PLAYER_MAX_IO - 1, &number)) return;
  while (role < 3 && strncmp(at, roles[role], strlen(roles[role]))) role++;
  if (role == 3) return;
  unit = at + strlen(roles[role]);
  size = strcspn(unit, " ");
  at = unit + size + (unit[size] == ' ');
  if (size == 0 || !read_whole(&at, INT32_MIN, INT32_MAX, &least) || !read_whole(&at, INT32_MIN, INT32_MAX, &most))
    return;
  next = (player_channel *)next_of((collected *)to, sizeof *next);
  if (!next) return;
  next->device = (char)device;
  next->role = roles[role][0];
  next->number = (int)number;
  snprintf(next->unit, sizeof next->unit, "%.*s", (int)size, unit);
  next->min = (int32_t)least;
  next->max = (int32_t)most;
  snprintf(next->name, sizeof next->name, "%s", at);
}

player_result player_channels(player_client *c, player_channel *channels, size_t room, size_t *count, int timeout) {
  collected l = {NULL, 0, 0};
  player_result r;
  l.items = channels;
  l.room = room;
  r = ask(c, 'i', take_channel, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.count : 0;
  return r;
}

static void take_color(player_client *c, void *to, const char *line) {
  int64_t channel;
  uint32_t color = 0;
  int digits = 0;
  const char *at, *hex = "0123456789abcdef", *digit;
  player_channel_color *next;
  char device = (char)device_of(c, line, &at);
  if (!device || !read_whole(&at, 0, PLAYER_CHANNELS - 1, &channel)) return;
  for (; *at && *at != ' '; at++, digits++) {
    digit = strchr(hex, *at);
    if (!digit) return;
    color = color << 4 | (uint32_t)(digit - hex);
  }
  if (digits != 6 || (next = (player_channel_color *)next_of((collected *)to, sizeof *next)) == NULL) return;
  next->device = device;
  next->channel = (int)channel;
  next->color = color;
}

player_result player_channel_colors(player_client *c, player_channel_color *colors, size_t room, size_t *count, int timeout) {
  collected l = {NULL, 0, 0};
  player_result r;
  l.items = colors;
  l.room = room;
  r = ask(c, 'v', take_color, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.count : 0;
  return r;
}

/* The list of devices that is being received. */
typedef struct {
  collected entries;
  bool begun; /* there was a line */
  bool again; /* the server was listed before: what is there stays */
  bool moved; /* another device than before has a byte, or a device has another byte */
} listing;

static void take_entry(player_client *c, void *to, const char *line) {
  listing *l = (listing *)to;
  const char *at = line, *interface;
  int64_t code, index;
  size_t n;
  char name[PLAYER_MAX_DEVICE_NAME];
  player_entry *next;
  if (!read_whole(&at, 1, 255, &code)) return;
  interface = at;
  n = strcspn(at, " :");
  if (n == 0 || at[n] != ' ') return;
  at += n + 1;
  if (!read_whole(&at, 0, INT32_MAX, &index)) return;
  if ((size_t)snprintf(name, sizeof name, "%.*s:%ld", (int)n, interface, (long)index) >= sizeof name) return;
  if (l->again) {
    uint8_t before = listed_as(c, name, strlen(name));
    if ((before && before != code) || (c->names[code][0] && before != code)) {
      l->moved = true;
      return;
    }
  } else if (!l->begun) {
    memset(c->names, 0, sizeof c->names);
  }
  l->begun = c->listed = true;
  memcpy(c->names[code], name, sizeof name);
  c->interfaces[code] = interface_letter(name);
  next = (player_entry *)next_of(&l->entries, sizeof *next);
  if (!next) return;
  next->device = (char)code;
  memcpy(next->name, name, sizeof name);
  snprintf(next->driver, sizeof next->driver, "%s", at);
}

player_result player_devices(player_client *c, player_entry *entries, size_t room, size_t *count, int timeout) {
  listing l;
  player_result r;
  memset(&l, 0, sizeof l);
  l.entries.items = entries;
  l.entries.room = room;
  r = ask(c, 'd', take_entry, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.entries.count : 0;
  return r;
}

/* Asks for the devices of a new connection, which must be those of the one before. */
static player_result list_again(player_client *c, int64_t deadline) {
  listing l;
  player_result r;
  memset(&l, 0, sizeof l);
  l.again = true;
  r = ask(c, 'd', take_entry, &l, deadline);
  if (r != PLAYER_OK || !l.moved) return r;
  return fail(c, PLAYER_PROTOCOL, "the server was started anew with other devices",
              "connect, and open them by their names");
}

/* Takes a reason why a device is refused. *to is the size of those before. */
static void keep_reason(player_client *c, void *to, const char *line) {
  size_t *n = (size_t *)to, size = strlen(line) + 1;
  if (*n + size >= sizeof c->reasons) return;
  memcpy(c->reasons + *n, line, size);
  c->reasons[*n += size] = 0;
}

/* Writes into error which devices of a request were granted less, and why. */
static player_result refusal(player_client *c, const char *pairs) {
  size_t n = 0, i;
  char name[PLAYER_MAX_DEVICE_NAME];
  for (i = 0; pairs[i] && n < sizeof c->error; i += 2) {
    char granted = player_access(c, pairs[i]);
    const char *reason = granted == 'e' ? player_reason(c, pairs[i]) : "";
    if (enough(pairs[i + 1], granted)) continue;
    if (granted == 'e' && !*reason) reason = "the server's log has the reason";
    n += (size_t)snprintf(c->error + n, sizeof c->error - n, "%sdevice %s: asked for %c, granted %c%s%s", n ? "; " : "",
                          label(c, (uint8_t)pairs[i], name), pairs[i + 1], granted, *reason ? ": " : "", reason);
  }
  return PLAYER_REFUSED;
}

player_result player_request(player_client *c, const char *pairs, int timeout) {
  int64_t deadline = deadline_after(timeout);
  size_t size = strlen(pairs), i;
  bool refused = false, failed = false;
  player_result r;
  if (size % 2) return fail(c, PLAYER_USAGE, pairs, "a request has pairs of device and access");
  r = send_message(c, 'd', 'r', pairs, size);
  if (r != PLAYER_OK) return r;
  c->awaited++;
  c->reasons[0] = 0;
  r = await_reply(c, deadline);
  if (r != PLAYER_OK) return r;
  if (get_u16(c->block + 1) != size) return fail(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 0; i < size; i += 2)
    if (c->block[PLAYER_HEADER_ + i] != (uint8_t)pairs[i]) return fail(c, PLAYER_PROTOCOL, pairs, "the reply answers another request");
  for (i = 1; i < size; i += 2) {
    char granted = player_access(c, pairs[i - 1]);
    refused = refused || !enough(pairs[i], granted);
    failed = failed || (granted == 'e' && pairs[i] != 'e');
  }
  i = 0;
  if (failed) (void)ask(c, 'e', keep_reason, &i, deadline); /* the refusal stands */
  return refused ? refusal(c, pairs) : PLAYER_OK;
}

/* Sets *code to the byte of a device by its name, and asks the server if the name is not known. */
static player_result find(player_client *c, const char *name, uint8_t *code, int64_t deadline) {
  size_t n = strcspn(name, ":"), size;
  const char *digits = name + n + (name[n] == ':');
  char full[PLAYER_MAX_DEVICE_NAME];
  int64_t index = 0;
  listing l;
  player_result r;
  int i;
  memset(&l, 0, sizeof l);
  if (name[n] && !*digits) n = 0;
  for (; n > 0 && *digits; digits++) {
    index = index * 10 + (*digits - '0');
    if (*digits < '0' || *digits > '9' || index > INT32_MAX) n = 0;
  }
  if (n == 0)
    return fail(c, PLAYER_USAGE, name, "write an interface and an index, for example laser:1, or an interface");
  size = (size_t)snprintf(full, sizeof full, "%.*s:%ld", (int)(n < sizeof full ? n : sizeof full), name, (long)index);
  *code = listed_as(c, full, size);
  if (*code) return PLAYER_OK;
  r = ask(c, 'd', take_entry, &l, deadline);
  if (r != PLAYER_OK) return r;
  *code = listed_as(c, full, size);
  if (!c->answered && index == 0 && interface_letter(full) >= 'a') *code = interface_letter(full);
  if (*code) return PLAYER_OK; /* an older server answers e if it has none */
  size = (size_t)snprintf(c->error, sizeof c->error, "no such device: %s: %s", full,
                          c->answered ? "the robot has" : "this server has only devices with letters");
  for (i = 1; c->answered && i < 256; i++)
    if (c->names[i][0] && size + PLAYER_MAX_DEVICE_NAME + 2 < sizeof c->error)
      size += (size_t)snprintf(c->error + size, sizeof c->error - size, " %s", c->names[i]);
  return PLAYER_REFUSED;
}

player_result player_open(player_client *c, const char *name, char access, char *device, int timeout) {
  int64_t deadline = deadline_after(timeout);
  char pairs[3] = {0, 0, 0};
  uint8_t code = 0;
  player_result r = find(c, name, &code, deadline);
  *device = (char)code;
  if (r != PLAYER_OK) return r;
  pairs[0] = (char)code;
  pairs[1] = access;
  return player_request(c, pairs, left_until(deadline));
}

static player_result bind_to(player_client *c, char device, uint8_t interface, void *to) {
  uint8_t code = (uint8_t)device;
  if (interface_of(c, code) != interface) return fail(c, PLAYER_USAGE, "bind", "the device is of another interface");
  c->bound[code].to = to;
  c->bound[code].interface = interface;
  c->devices[code].has = false;
  return PLAYER_OK;
}

player_result player_bind_laser(player_client *c, char device, player_laser *to) {
  return bind_to(c, device, 'l', to);
}

player_result player_bind_sonar(player_client *c, char device, player_sonar *to) {
  return bind_to(c, device, 's', to);
}

player_result player_bind_ranger(player_client *c, char device, player_ranger *to) {
  return bind_to(c, device, 'R', to);
}

player_result player_bind_imu(player_client *c, char device, player_imu *to) {
  return bind_to(c, device, 'I', to);
}

player_result player_bind_gps(player_client *c, char device, player_gps *to) {
  return bind_to(c, device, 'G', to);
}

player_result player_bind_io(player_client *c, char device, player_io *to) {
  return bind_to(c, device, 'O', to);
}

player_result player_bind_servo(player_client *c, char device, player_servo *to) {
  return bind_to(c, device, 'S', to);
}

player_result player_bind_goto(player_client *c, char device, player_goto *to) {
  return bind_to(c, device, 'T', to);
}

player_result player_bind_misc(player_client *c, char device, player_misc *to) {
  return bind_to(c, device, 'm', to);
}

player_result player_bind_gripper(player_client *c, char device, player_gripper *to) {
  return bind_to(c, device, 'g', to);
}

player_result player_bind_ptz(player_client *c, char device, player_ptz *to) {
  return bind_to(c, device, 'z', to);
}

player_result player_bind_vision(player_client *c, char device, player_vision *to) {
  return bind_to(c, device, 'v', to);
}

player_result player_bind_joystick(player_client *c, char device, player_joystick *to) {
  return bind_to(c, device, 'j', to);
}

player_result player_read(player_client *c, int timeout) {
  int64_t deadline = deadline_after(timeout);
  for (;;) {
    outcome event;
    player_result r;
    if (c->connected && c->awaited == 0 && c->readers == 0) return fail(c, PLAYER_USAGE, "no device is open for reading", "");
    if (c->connected && c->awaited == 0 && c->fresh && !readable(c, 'y')) return fail(c, PLAYER_USAGE, "only new data", "needs device y");
    r = receive(c, deadline, &event);
    if (r != PLAYER_OK) return r;
    if (event == ROUND) return PLAYER_OK;
    if (event == BAD) return PLAYER_PROTOCOL;
    if (late(c, deadline)) return fail(c, PLAYER_TIMEOUT, "timeout", "");
  }
}

/* ---- Commands (PROTOCOL 5) ---- */

player_result player_command(player_client *c, char letter, const void *payload, size_t size) {
  if (c->connected && !writable(c, (uint8_t)letter)) return fail(c, PLAYER_USAGE, "command", "no write access to the device");
  return send_message(c, 'c', letter, payload, size);
}

/* Limits v to the range of an i16, so that a speed never changes its sign. */
static void put_i16(uint8_t *b, int v) {
  unsigned u = (unsigned)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
  b[0] = (uint8_t)(u >> 8);
  b[1] = (uint8_t)u;
}

player_result player_set_speed(player_client *c, int speed, int turnrate) {
  uint8_t b[4];
  put_i16(b, speed);
  put_i16(b + 2, turnrate);
  return player_command(c, 'p', b, sizeof b);
}

player_result player_set_ptz(player_client *c, int pan, int tilt, int zoom) {
  uint8_t b[6];
  put_i16(b, pan);
  put_i16(b + 2, tilt);
  put_i16(b + 4, zoom);
  return player_command(c, 'z', b, sizeof b);
}

player_result player_set_gripper(player_client *c, uint8_t command, uint8_t argument) {
  uint8_t b[2];
  b[0] = command;
  b[1] = argument;
  return player_command(c, 'g', b, sizeof b);
}

static void put_u32(uint8_t *b, uint32_t v) {
  int i;
  for (i = 0; i < 4; i++) b[i] = (uint8_t)(v >> (24 - 8 * i));
}

player_result player_set_output(player_client *c, char device, uint8_t channel, int32_t value) {
  uint8_t b[5];
  b[0] = channel;
  put_u32(b + 1, (uint32_t)value);
  return player_command(c, device, b, sizeof b);
}

player_result player_move_joint(player_client *c, char device, uint8_t joint, int32_t goal, uint32_t speed) {
  uint8_t b[9];
  b[0] = joint;
  put_u32(b + 1, (uint32_t)goal);
  put_u32(b + 5, speed);
  return player_command(c, device, b, sizeof b);
}

player_result player_stop_joints(player_client *c, char device) {
  return player_move_joint(c, device, PLAYER_ALL_JOINTS, PLAYER_UNKNOWN, 0);
}

player_result player_set_goal(player_client *c, char device, const player_goal *goal) {
  uint16_t rest[6];
  uint8_t b[20];
  int i;
  rest[0] = goal->heading;
  rest[1] = goal->speed;
  rest[2] = goal->turnrate;
  rest[3] = goal->tolerance;
  rest[4] = goal->radius;
  rest[5] = goal->tag;
  put_u32(b, (uint32_t)goal->x);
  put_u32(b + 4, (uint32_t)goal->y);
  for (i = 0; i < 6; i++) {
    b[8 + 2 * i] = (uint8_t)(rest[i] >> 8);
    b[9 + 2 * i] = (uint8_t)rest[i];
  }
  return player_command(c, device, b, sizeof b);
}

player_result player_stop_goal(player_client *c, char device) {
  player_goal none = {PLAYER_UNKNOWN, 0, 0, 0, 0, 0, 0, 0};
  return player_set_goal(c, device, &none);
}

const char *player_goto_reason(uint8_t reason) {
  static const char *const reasons[] = {"it goes on", "it was commanded to stop", "the wheels got another command",
    "the emergency stop is active", "its sensors give no ranges", "its wheels give no odometry", "it has found no way",
    "the goal is too far, or the robot too wide", "its motors are off"};
  return reason < sizeof reasons / sizeof *reasons ? reasons[reason] : "of a reason that this library does not know";
}

/* ---- Configuration (PROTOCOL 4, 6). The server does not answer. ---- */

static player_result configure(player_client *c, char letter, char code, int size, int value) {
  uint8_t b[3];
  b[0] = (uint8_t)code;
  if (size == 1) b[1] = (uint8_t)value;
  if (size == 2) put_i16(b + 1, value > INT16_MAX ? value - 0x10000 : value);
  return send_message(c, 'x', letter, b, 1 + (size_t)size);
}

player_result player_set_frequency(player_client *c, int hz) {
  player_result r;
  if (hz < 1 || hz > UINT16_MAX) return fail(c, PLAYER_USAGE, "frequency", "1 to 65535 Hz");
  r = configure(c, 'y', 'f', 2, hz);
  if (r == PLAYER_OK) c->frequency = hz;
  return r;
}

player_result player_set_command_lifetime(player_client *c, int ms) {
  player_result r;
  if (ms < 0 || ms > 60000) return fail(c, PLAYER_USAGE, "lifetime", "0 to 60000 ms");
  r = configure(c, 'y', 'l', 2, ms);
  if (r == PLAYER_OK) c->lifetime = ms;
  return r;
}

player_result player_set_request_reply(player_client *c, bool on) {
  player_result r = configure(c, 'y', 'r', 1, on);
  if (r == PLAYER_OK) c->request_reply = on;
  return r;
}

player_result player_request_data(player_client *c) { return configure(c, 'y', 'd', 0, 0); }

player_result player_set_fresh(player_client *c, bool on) {
  player_result r;
  if (on && c->connected && !readable(c, 'y')) return fail(c, PLAYER_USAGE, "only new data", "needs device y");
  r = configure(c, 'y', 'n', 1, on);
  if (r == PLAYER_OK) c->fresh = on;
  return r;
}

player_result player_set_compact(player_client *c, int form) {
  player_result r;
  if (form < PLAYER_PLAIN || form > PLAYER_COMPACT_WHEN_FULL) return fail(c, PLAYER_USAGE, "form of rounds", "0 to 2");
  r = configure(c, 'y', 'z', 1, form);
  if (r == PLAYER_OK) c->compact = form;
  return r;
}

player_result player_set_name(player_client *c, const char *name) {
  char payload[1 + PLAYER_MAX_NAME_];
  size_t n = strlen(name), i;
  player_result r;
  if (n > PLAYER_MAX_NAME_) return fail(c, PLAYER_USAGE, "name", "longer than 64 bytes");
  for (i = 0; i < n; i++)
    if (name[i] < ' ' || name[i] > '~') return fail(c, PLAYER_USAGE, "name", "not printable ASCII");
  payload[0] = 'w';
  memcpy(payload + 1, name, n);
  r = send_message(c, 'x', 'y', payload, 1 + n);
  if (r == PLAYER_OK) memmove(c->name, name, n + 1);
  return r;
}

player_result player_emergency_stop(player_client *c, bool on) { return configure(c, 'y', 'e', 1, on); }

player_result player_change_motor_state(player_client *c, bool on) { return configure(c, 'p', 'm', 1, on); }
player_result player_change_velocity_control(player_client *c, bool separate) { return configure(c, 'p', 'v', 1, separate); }
player_result player_reset_position(player_client *c) { return configure(c, 'p', 'R', 0, 0); }

player_result player_config(player_client *c, char device, const void *payload, size_t size) {
  return send_message(c, 'x', device, payload, size);
}

/* What player_reconnect restores. */
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
    poll(NULL, 0, RECONNECT_PAUSE);
  }
}

/* ---- Simulation: the answer, byte by byte ---- */

/* Returns the next byte, -1 at the end. */
static int simulation_next(player_simulation *w) {
  player_client *c = &w->line;
  while (c->begin == c->end && c->connected) {
    ptrdiff_t n = c->line_ ? c->line_->receive(c, c->in, sizeof c->in) : recv(c->fd, c->in, sizeof c->in, 0);
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
    code = (unsigned)b;
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
  if (b >= 0) w->line.begin--;
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
      if (b >= 0) w->line.begin--;
    } else if (b != ',' && b != ':')
      return false;
    if (depth == 0) return true;
  }
}

/* What the values of members go to. */
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

/* Reads the rest of the list of movers, or of what one of them sees. */
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
  player_close(&w->line);
  snprintf(w->error, sizeof w->error, "%.200s:%d: %.255s", w->host, w->port, what);
  return r;
}

static player_result simulation_send(player_simulation *w, const char *text, size_t size) {
  while (size > 0) {
    player_client *c = &w->line;
    ptrdiff_t n = c->line_ ? c->line_->send(c, text, size) : send(c->fd, text, size, MSG_NOSIGNAL);
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
  if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line.error);
  if (status == 0 && b < 0) return simulation_fail(w, PLAYER_CLOSED, "the server closed the connection");
  if (status == 200) {
    bool is = simulation_word(w) == '{' && simulation_object(w, members);
    if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line.error);
    if (!is) return simulation_fail(w, PLAYER_PROTOCOL, "no dashboard of Player");
    return PLAYER_OK;
  }
  while ((b = simulation_next(w)) >= 0 && b != '\n') { /* people see it on terminals */
    bool control = n > 0 && (uint8_t)text[n - 1] == 0xC2 && b >= 0x80 && b < 0xA0; /* of two bytes in UTF-8 */
    if (control) text[n - 1] = '?';
    if (n + 1 < sizeof text) text[n++] = control || b < ' ' || b == 0x7F ? '?' : (char)b;
  }
  text[n] = 0;
  if (w->broken != PLAYER_OK) return simulation_fail(w, w->broken, w->line.error);
  if (status == 400 || status == 409) return simulation_fail(w, PLAYER_REFUSED, text);
  if (status == 403) return simulation_fail(w, PLAYER_USAGE, text);
  if (status == 404) return simulation_fail(w, PLAYER_USAGE, "no simulation: start the server with -stage and -http");
  return simulation_fail(w, PLAYER_PROTOCOL, *text ? text : "no dashboard of Player");
}

player_result player_simulation_order(player_simulation *w, const char *order, int timeout) {
  static const char hex[] = "0123456789ABCDEF";
  char head[PLAYER_MAX_HOST_ + 64];
  player_result r;
  w->deadline = deadline_after(timeout);
  w->broken = PLAYER_OK;
  w->count = 0;
  r = player_connect(&w->line, w->host, w->port, timeout);
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
  if (r != PLAYER_OK) return simulation_fail(w, r, w->line.error);
  r = simulation_answer(w);
  player_close(&w->line);
  return r;
}

player_result player_simulation_state(player_simulation *w, int timeout) { return player_simulation_order(w, NULL, timeout); }
