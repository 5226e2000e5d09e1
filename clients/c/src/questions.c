/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions, and the meaning of the lines of answers (PROTOCOL 8.9). It is part of player.c.
 */

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

/* The caller's list, which gets the content of lines. */
typedef struct {
  void *items;
  size_t room, count;
} collected;

/* Returns where the next one goes, or NULL if there is no room. */
static void *next_of(collected *l, size_t size) {
  return l->count < l->room ? (char *)l->items + size * l->count++ : NULL;
}

/* Asks a question, the lines of whose answer fill the caller's list. No answer leaves the list empty. */
static player_result collect(player_client *c, char question, void (*line)(player_client *, void *, const char *), void *items,
                             size_t room, size_t *count, int timeout) {
  collected l = {NULL, 0, 0};
  player_result r;
  l.items = items;
  l.room = room;
  r = ask(c, question, line, &l, deadline_after(timeout));
  *count = r == PLAYER_OK ? l.count : 0;
  return r;
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
  return collect(c, 'g', take_part, parts, room, count, timeout);
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
  return collect(c, 'r', take_ray, rays, room, count, timeout);
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
  return collect(c, 'i', take_channel, channels, room, count, timeout);
}

static void take_color(player_client *c, void *to, const char *line) {
  int64_t channel;
  uint32_t color = 0;
  int digits = 0;
  const char *at, *hex = "0123456789abcdef0123456789ABCDEF", *digit;
  player_channel_color *next;
  char device = (char)device_of(c, line, &at);
  if (!device || !read_whole(&at, 0, PLAYER_CHANNELS - 1, &channel)) return;
  for (; *at && *at != ' '; at++, digits++) {
    digit = strchr(hex, *at);
    if (!digit) return;
    color = color << 4 | (uint32_t)((digit - hex) % 16);
  }
  if (digits != 6 || (next = (player_channel_color *)next_of((collected *)to, sizeof *next)) == NULL) return;
  next->device = device;
  next->channel = (int)channel;
  next->color = color;
}

player_result player_channel_colors(player_client *c, player_channel_color *colors, size_t room, size_t *count, int timeout) {
  return collect(c, 'v', take_color, colors, room, count, timeout);
}

/* The list of devices that is being received. */
typedef struct {
  collected entries;
  bool begun; /* there was a line */
  bool again; /* the server was listed before: its entries stay */
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

/* Asks for the devices of a new connection, which must equal the devices of the one before. */
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
