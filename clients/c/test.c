/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the client that need no server, from inside. The conformance suite has the
 * others.
 */
#define getaddrinfo test_getaddrinfo
#define freeaddrinfo test_freeaddrinfo
#include "player.c"

#include <stdlib.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1); \
    } \
  } while (0)

static player_client c;

/* The addresses of each host, or NULL for those that it has. */
static struct addrinfo *addresses;

#undef getaddrinfo
#undef freeaddrinfo
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);
void freeaddrinfo(struct addrinfo *list);

int test_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
  if (!addresses) return getaddrinfo(host, service, hints, list);
  *list = addresses;
  return 0;
}
void test_freeaddrinfo(struct addrinfo *list) {
  if (list != addresses) freeaddrinfo(list);
}

/* Parses bytes in pieces and returns the last event; rounds counts the rounds. */
static outcome feed(const uint8_t *b, size_t n, size_t piece, int *rounds) {
  outcome last = MORE;
  size_t at = 0;
  while (at < n) {
    size_t size = piece < n - at ? piece : n - at, begin = 0;
    uint8_t *copy = malloc(size); /* so that a read behind its end is found */
    CHECK(copy);
    memcpy(copy, b + at, size);
    while (begin < size) {
      size_t used;
      outcome e = parse(&c, copy + begin, size - begin, &used);
      CHECK(used > 0 && used <= size - begin);
      begin += used;
      if (e == ROUND) ++*rounds;
      if (e != MORE) last = e;
    }
    free(copy);
    at += size;
  }
  return last;
}

/* Makes position and sonar open for reading. */
static void open_devices(void) {
  static const uint8_t reply[] = "r\0\4prsr";
  int rounds = 0;
  memset(&c, 0, sizeof c);
  CHECK(feed(reply, sizeof reply - 1, sizeof reply, &rounds) == REPLY);
  CHECK(rounds == 0 && c.readers == 2 && player_access(&c, 'p') == 'r' && player_access(&c, 's') == 'r');
}

/* Has an answer to a question about devices parsed, as if it had been asked. */
static void answer(char question, void (*line)(player_client *, void *, const char *), void *to, const char *text) {
  uint8_t b[2000];
  size_t n = strlen(text);
  int rounds = 0;
  b[0] = 'Y';
  b[1] = (uint8_t)((n + 1) >> 8);
  b[2] = (uint8_t)(n + 1);
  b[3] = (uint8_t)question;
  memcpy(b + 4, text, n);
  c.question = question;
  c.line = line;
  c.to = to;
  c.awaited = 1;
  feed(b, n + 4, 7, &rounds);
  c.line = NULL;
  c.awaited = 0;
}

/* The variables of devices without letters, each of its own size so that a write behind its end is found. */
static player_laser *rear;
static player_ranger *ranger;
static player_imu *imu;
static player_gps *gps;
static player_io *io;
static player_servo *servo;

static const char robot_devices[] =
  "\n108 laser 0 sick\n128 laser 1 urg\nlater servers say more\n129 ranger 0 a driver\n130 imu 0 x\n131 gps 0 x\n132 io 0 x\n"
  "255 servo 12 x\n133 fiducial 3 x\n44 sonar 1 x\n";

/* Has the devices listed, and bound to variables. */
static void list_devices(void) {
  listing l;
  memset(&l, 0, sizeof l);
  answer('d', take_entry, &l, robot_devices);
  CHECK(player_bind_laser(&c, (char)0x80, rear) == PLAYER_OK);
  CHECK(player_bind_ranger(&c, (char)0x81, ranger) == PLAYER_OK);
  CHECK(player_bind_imu(&c, (char)0x82, imu) == PLAYER_OK && player_bind_gps(&c, (char)0x83, gps) == PLAYER_OK);
  CHECK(player_bind_io(&c, (char)0x84, io) == PLAYER_OK && player_bind_servo(&c, (char)0xFF, servo) == PLAYER_OK);
}

static void test_names(void) {
  static player_entry entries[9];
  player_ray rays[2];
  player_channel channels[2];
  collected found = {NULL, 0, 0};
  listing l;
  int i;
  char label_of[PLAYER_MAX_DEVICE_NAME];
  const char *rest;
  size_t n = 0;
  memset(&c, 0, sizeof c);
  memset(&l, 0, sizeof l);
  l.entries.items = entries;
  l.entries.room = 8;
  answer('d', take_entry, &l, robot_devices);
  CHECK(l.entries.count == 8 && !strcmp(entries[2].name, "ranger:0") && !strcmp(entries[2].driver, "a driver"));
  CHECK(!entries[8].device && !strcmp(player_device_name(&c, ','), "sonar:1")); /* without room for it */
  CHECK(!strcmp(label(&c, 'l', label_of), "l") && !strcmp(label(&c, ',', label_of), "sonar:1"));
  CHECK(!strcmp(label(&c, 7, label_of), "7") && !strcmp(label(&c, 133, label_of), "fiducial:3"));
  CHECK(device_of(&c, "laser:1 x", &rest) == 0x80 && *rest == 'x' && device_of(&c, "p x", &rest) == 'p');
  CHECK(device_of(&c, "laser:2 x", &rest) == 0 && device_of(&c, " x", &rest) == 0 && device_of(&c, "", &rest) == 0);
  /* Only a variable of the interface takes the data. */
  CHECK(player_bind_imu(&c, (char)0x80, imu) == PLAYER_USAGE && player_bind_imu(&c, 'I', imu) == PLAYER_USAGE);
  CHECK(player_bind_imu(&c, (char)0x82, imu) == PLAYER_OK && player_bind_laser(&c, 'l', rear) == PLAYER_OK);
  for (i = 0; i < 2; i++) { /* the second list has other devices */
    static uint8_t scan[3 + 2 * PLAYER_LASERS] = {0x82, 2, 210, 1, 2};
    int rounds = 0;
    imu->roll = 9;
    feed(scan, sizeof scan, sizeof scan, &rounds);
    CHECK(imu->roll == 9 && player_has(&c, (char)0x82) == (i == 1));
    memset(&l, 0, sizeof l);
    answer('d', take_entry, &l, "\n130 laser 2 x");
    CHECK(!*player_device_name(&c, (char)0x80) && listed_as(&c, "laser:2", 7) == 0x82);
  }
  CHECK(c.laser[0] == 0);

  c.devices['l'].has = true;
  CHECK(player_bind_laser(&c, 'l', NULL) == PLAYER_OK && !player_has(&c, 'l')); /* until its next data */

  /* Answers are added to each other; one to an earlier question is not taken. */
  found.items = rays;
  found.room = 2;
  list_devices();
  answer('r', take_ray, &found, "\nl 0 361 80 -10.5 -90 0.5 0 8182 0\nranger:0 0 8193 0 0 0 0 0 0 0");
  answer('r', take_ray, &found, "\nranger:0 8191 2 0 0 0 0 0 0 0\nranger:0 8190 1 0 0 0 0 0 0");
  answer('r', take_ray, &found, "\nranger:0 8191 1 -5 6 180 0 0 0 15 more\nl 0 1 0 0 0 0 0 0 0");
  CHECK(found.count == 2 && rays[0].device == 'l' && rays[0].count == 361 && rays[0].y == -10.5);
  CHECK(rays[0].far_mm == 8182);
  CHECK((uint8_t)rays[1].device == 0x81 && rays[1].first == 8191 && rays[1].heading == 180 && rays[1].cone == 15);
  found.items = channels;
  found.count = 0;
  answer('i', take_channel, &found,
         "\nio:0 3 output mV -2147483648 2147483647 \nio:0 128 input bit 0 1 x\nio:0 0 inputs bit 0 1 x\n"
         "io:0 0 input bit 0 2147483648 x\nio:0 0 input  0 1 x\nio:9 0 input bit 0 1 x\n"
         "servo:12 0 joint mdeg -9 9 The elbow");
  CHECK(found.count == 2 && channels[0].role == 'o' && channels[0].number == 3 && !*channels[0].name);
  CHECK(channels[0].min == PLAYER_UNKNOWN && channels[0].max == INT32_MAX);
  CHECK((uint8_t)channels[1].device == 0xFF && channels[1].role == 'j' && !strcmp(channels[1].unit, "mdeg"));
  CHECK(!strcmp(channels[1].name, "The elbow"));
  c.devices[0x82].access = 'e';
  c.awaited = 2;
  c.line = keep_reason;
  c.to = &n;
  c.question = 'e';
  feed((const uint8_t *)"Y\0\13e\nimu:0 a b", 14, 14, &i);
  CHECK(n == 0 && c.awaited == 2);
  answer('e', keep_reason, &n, "\nimu:0 hardware it is unplugged\nimu:0 hardware again\nl hardware");
  CHECK(!strcmp(player_why(&c, (char)0x82), "hardware it is unplugged"));
  CHECK(!strcmp(player_reason(&c, (char)0x82), "it is unplugged"));
  CHECK(!*player_why(&c, 'l') && !*player_why(&c, 0));
  CHECK(refusal(&c, "\202r") == PLAYER_REFUSED);
  CHECK(strstr(c.error, "imu:0") && strstr(c.error, "it is unplugged"));

  for (i = 0; i < 4; i++) { /* after a new connection, bytes must belong to the same devices */
    static const struct {
      const char *lines;
      bool moved;
    } lists[] = {
      {robot_devices, false}, {"\n134 imu 1 x", false}, {"\n128 laser 2 x", true}, {"\n134 laser 1 x", true}};
    list_devices();
    memset(&l, 0, sizeof l);
    l.again = true;
    answer('d', take_entry, &l, lists[i].lines);
    CHECK(l.moved == lists[i].moved && listed_as(&c, "laser:1", 7) == 0x80);
  }
}

/* All kinds of items, whose bytes the server's encoder has made: a part of a laser scan is the last. */
static void test_compact(void) {
  static const uint8_t frame[] = {
    0x5a, 0x00, 0x88, 0x79, 0x49, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x01, 0xa1, 0x9c, 0x01, 0xff, 0xff, 0xff, 0xff,
    0x0f, 0x00, 0x02, 0x03, 0x73, 0x5d, 0x46, 0xbf, 0xed, 0xab, 0x99, 0x28, 0xe7, 0x5f, 0xcd, 0x0b, 0x23, 0xa6, 0x29,
    0xa3, 0x79, 0x17, 0xf0, 0xc5, 0xa4, 0x71, 0x5c, 0x3a, 0x79, 0x70, 0x3d, 0xf0, 0xa2, 0x04, 0x09, 0x80, 0x80, 0x80,
    0x01, 0xe7, 0x02, 0xc7, 0x01, 0x28, 0x03, 0x01, 0x7a, 0x15, 0xc7, 0x01, 0x32, 0xfe, 0x0f, 0x6a, 0x35, 0x05, 0xfd,
    0xff, 0x03, 0xfe, 0xff, 0x03, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x76, 0x8d, 0x01, 0x04, 0x01, 0x20, 0x02, 0x00,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x4e, 0x01, 0x01, 0x01, 0x01, 0x01, 0x6c, 0x32, 0x09, 0x12, 0x14, 0x64, 0x52, 0x4d,
    0xaf, 0x35, 0xd4, 0x7f, 0x06, 0x64};
  static const uint8_t reply[] = "r\0\16yrsrprzrjrvrlr";
  uint8_t broken[sizeof frame];
  uint32_t state = 1;
  size_t piece;
  int i, n;
  for (piece = 1; piece <= sizeof frame; piece++) {
    int rounds = 0;
    memset(&c, 0, sizeof c);
    CHECK(feed(reply, sizeof reply - 1, sizeof reply, &rounds) == REPLY);
    CHECK(feed(frame, sizeof frame, piece, &rounds) == ROUND && rounds == 1 && !c.in_items && c.have == 0);
    CHECK(c.server_time_us == UINT64_C(1) << 40 && c.age_count == 6 && c.ages[1] == 20000 && c.ages[2] == 0xFFFFFFFE);
    for (i = 0; i < PLAYER_SONARS; i++) CHECK(c.sonar[i] == 1000 * i + 7);
    CHECK(c.position.time == 70000 && c.position.x == -5 && c.position.y == 1 << 20 && c.position.heading == 359);
    CHECK(c.position.speed == -100 && c.position.turnrate == 20 && c.position.compass == 3 && c.position.stall == 1);
    CHECK(c.ptz.pan == -100 && c.ptz.tilt == 25 && c.ptz.zoom == 1023);
    CHECK(c.joystick.buttons == 5 && c.joystick.axes[0] == -32767 && c.joystick.axes[1] == 32767);
    CHECK(c.joystick.axes[3] == -1);
    CHECK(c.vision.count[3] == 1 && c.vision.count[31] == 2 && c.vision.count[4] == 0 && c.vision.blobs[31][1].x == 77);
    for (i = 0; i < PLAYER_LASERS; i++) CHECK(c.laser[i] == (i % 18 == 9 ? (2050 + 10 * i) / 100 * 100 : 0));
  }
  for (n = 0; n < 20000; n++) { /* the message after a broken one is understood */
    int rounds = 0;
    outcome e;
    memcpy(broken, frame, sizeof frame);
    for (i = 0; i < 1 + n % 3; i++) {
      state = state * 1664525 + 1013904223;
      broken[3 + (state >> 8) % (sizeof frame - 3)] = (uint8_t)(state >> 24);
    }
    c.devices['y'].access = 'c';
    feed(broken, sizeof broken, 1 + (size_t)n % 150, &rounds);
    CHECK(!c.in_items && c.have == 0);
    c.devices['y'].access = 'r';
    e = feed(frame, sizeof frame, 1 + (size_t)n % 150, &rounds);
    CHECK(e == ROUND);
  }
}

/* Payloads above the limits of their data are not decoded. */
static void test_limits(void) {
  static uint8_t b[PLAYER_MAX_BLOCK_] = {0, 1};
  uint8_t *to = malloc(PLAYER_MAX_BLOCK_);
  size_t n;
  CHECK(to);
  CHECK(decode_ranger(ranger, b, 2 + 2 * PLAYER_MAX_READINGS) && ranger->count == PLAYER_MAX_READINGS);
  CHECK(!decode_ranger(ranger, b, 4 + 2 * PLAYER_MAX_READINGS) && !decode_ranger(ranger, b + 2, 4));
  CHECK(decode_io(io, b, 4 * PLAYER_MAX_IO) && !decode_io(io, b, 4 * PLAYER_MAX_IO + 4));
  CHECK(decode_servo(servo, b, 9 * PLAYER_MAX_JOINTS) && !decode_servo(servo, b, 9 * PLAYER_MAX_JOINTS + 9));
  for (n = 0; n < 7; n++) { /* 1637 blobs, for which there is no room */
    b[2 * n] = (uint8_t)(n + 1);
    b[2 * n + 1] = n < 6 ? 254 : 113;
  }
  CHECK(expand_vision(to, b, b + 14 + 1 + 16370) == 0);
  free(to);
}

/* Bytes of a broken server change nothing but data, and are all used up. */
static void test_noise(void) {
  static const char letters[] = "pslmgvzjyrZY\200\201\202\203\204\377\0\0\0\1\2\3\6\25\40\100";
  static uint8_t b[20000];
  uint32_t state = 1;
  int run;
  for (run = 0; run < 300; run++) {
    size_t i;
    int rounds = 0;
    open_devices();
    list_devices();
    for (i = 0; i < sizeof b; i++) {
      state = state * 1664525 + 1013904223;
      b[i] = (uint8_t)(state >> 24);
      if (run % 2 && b[i] < 160) b[i] = (uint8_t)letters[b[i] % (sizeof letters - 1)];
    }
    feed(b, sizeof b, 1 + (size_t)run, &rounds);
    CHECK(c.ordered <= 256 && c.have <= sizeof c.block && c.left >= 0 && c.awaited == 0);
    CHECK(c.age_count >= 0 && c.age_count <= PLAYER_MAX_AGES_);
    for (i = 0; i < PLAYER_CHANNELS; i++) CHECK(c.vision.count[i] <= PLAYER_MAX_BLOBS);
    CHECK(io->count <= PLAYER_MAX_IO && servo->count <= PLAYER_MAX_JOINTS && ranger->count <= PLAYER_MAX_READINGS);
  }
}

/* The handle, and its values before a connection. */
static void test_handle(void) {
  static player_client empty;
  player_client *made = player_create();
  int r;
  CHECK(made && !memcmp(made, &empty, sizeof empty)); /* a structure of zeros is a new one */
  CHECK(!player_connected(made) && player_descriptor(made) == -1 && !*player_error(made) && !*player_host(made));
  CHECK(player_port(made) == 0 && player_server_time_us(made) == 0 && player_size(made, 'p') == 0);
  CHECK(player_get_position(made)->x == 0 && player_get_sonar(made)[15] == 0 && player_get_laser(made)[360] == 0);
  CHECK(player_get_misc(made)->battery == 0 && player_get_gripper(made)->state == 0 && player_get_ptz(made)->zoom == 0);
  CHECK(player_get_vision(made)->count[31] == 0 && player_get_joystick(made)->axes[7] == 0);
  CHECK(player_read(made, PLAYER_NO_WAIT) == PLAYER_CLOSED && !strcmp(player_error(made), "not connected"));
  CHECK(player_set_command_lifetime(made, -1) == PLAYER_USAGE && player_set_frequency(made, -1) == PLAYER_USAGE);
  player_destroy(made);
  player_destroy(NULL);
  for (r = PLAYER_OK; r <= PLAYER_USAGE + 1; r++) CHECK(strlen(player_strerror((player_result)r)) > 5);
  CHECK(!strcmp(player_version(), PLAYER_VERSION));
  CHECK(PLAYER_VERSION_NUMBER == PLAYER_VERSION_MAJOR * 10000 + PLAYER_VERSION_MINOR * 100 + PLAYER_VERSION_PATCH);
}

static void test_every_letter_opened(void) {
  uint8_t b[3 + 512];
  int i, rounds = 0;
  memset(&c, 0, sizeof c);
  b[0] = 'r';
  b[1] = 2;
  b[2] = 0;
  for (i = 0; i < 256; i++) {
    b[3 + 2 * i] = (uint8_t)i;
    b[4 + 2 * i] = 0; /* 0.7.4a answers so (PROTOCOL, last table) */
  }
  for (i = 0; i < 3; i++) CHECK(feed(b, sizeof b, 7, &rounds) == REPLY);
  CHECK(c.ordered == 256 && c.readers == 0 && player_access(&c, 'x') == 'e');
}

static void test_usage(void) {
  memset(&c, 0, sizeof c);
  CHECK(player_read(&c, 0) == PLAYER_CLOSED);
  CHECK(player_set_speed(&c, 0, 0) == PLAYER_CLOSED);
  CHECK(player_request(&c, "srp", 0) == PLAYER_USAGE);
  CHECK(player_set_frequency(&c, 0) == PLAYER_USAGE);
  CHECK(player_set_frequency(&c, 65536) == PLAYER_USAGE);
  CHECK(player_set_compact(&c, 3) == PLAYER_USAGE);
  {
    static const char *const none[] = {
      "", ":1", "imu:", "imu:x", "imu:-1", "imu:1 ", "imu:2147483648", "imu:99999999999999999999"};
    char device = 1;
    size_t i;
    for (i = 0; i < sizeof none / sizeof *none; i++)
      CHECK(player_open(&c, none[i], 'r', &device, 0) == PLAYER_USAGE && device == 0);
    CHECK(player_open(&c, "freshness:1", 'r', &device, 0) == PLAYER_CLOSED && device == 0);
    CHECK(player_open(&c, "freshness", 'r', &device, 0) == PLAYER_CLOSED && device == 'y');
    CHECK(player_open(&c, "imu:2147483647", 'r', &device, 0) == PLAYER_CLOSED);
    CHECK(player_open(&c, "an interface with a long name:1", 'r', &device, 0) == PLAYER_CLOSED);
  }
  CHECK(player_connect(&c, "no.such.host.invalid", 6665, 1000) == PLAYER_CLOSED && c.error[0]);
}

static player_mover movers[2];
static player_client line;
static player_simulation world = {.host = "h", .port = 1, .movers = movers, .room = 2, .line = &line};

/* Reads an answer of a dashboard. */
static player_result answered(const char *text, size_t size) {
  CHECK(size <= sizeof line.in);
  memcpy(line.in, text, size);
  line.begin = 0;
  line.end = size;
  world.count = 0;
  world.broken = PLAYER_OK;
  return simulation_answer(&world);
}

static void test_simulation(void) {
  static const char state[] =
    "HTTP/1.0 200 OK\r\nDate: now\r\n\r\n{\"time\":1.5e0,\"later\":[{\"a\":[]},null,-1e5,\"}\"],\"speed\":0,\"paused\":true,\"finished\":false,\"seed\":7,"
    " \"movers\" : [ {\"name\":\"r\\\"\\u00e9\\uD83D\\uDE00\\n\",\"robot\":true,\"x\":-1.25,\"y\":1e-3,\"heading\":90,\"sees\":[{\"name\":\"c\",\"id\":-3,\"range\":2,\"bearing\":-90}]},"
    "{\"name\":\"0123456789012345678901234567890123456789012345678901234567890123456789\",\"robot\":false,\"x\":1,\"y\":2,\"heading\":0},"
    "{\"name\":\"no room\",\"robot\":false,\"x\":1,\"y\":2,\"heading\":0,\"sees\":[]}]}\n";
  size_t i, n;
  unsigned random = 1;
  CHECK(answered(state, sizeof state - 1) == PLAYER_OK);
  CHECK(world.time == 1.5 && world.speed == 0 && world.paused && !world.finished && world.seed == 7 && world.count == 3);
  CHECK(!strcmp(movers[0].name, "r\"\303\251\360\237\230\200\n") && movers[0].robot);
  CHECK(movers[0].x == -1.25 && movers[0].y == 1e-3 && movers[0].heading == 90);
  CHECK(movers[0].seen == 1 && movers[0].sees[0].id == -3 && movers[0].sees[0].range == 2 && movers[0].sees[0].bearing == -90);
  CHECK(strlen(movers[1].name) == PLAYER_MAX_MOVER_NAME - 1 && !movers[1].robot && movers[1].seen == 0);
  CHECK(answered("HTTP/1.1 400 Bad Request\n\nwrite step", 36) == PLAYER_REFUSED && !strcmp(world.error, "h:1: write step"));
  CHECK(answered("HTTP/1.0 409 Conflict\r\n\r\n\302\233r\303\266m\177\n", 33) == PLAYER_REFUSED && !strcmp(world.error, "h:1: ??r\303\266m?"));
  CHECK(answered("HTTP/1.0 403 Forbidden\r\n\r\nyour computer may read", 48) == PLAYER_USAGE && !strcmp(world.error, "h:1: your computer may read"));
  CHECK(answered("HTTP/1.0 404 Not Found\r\n\r\n404", 29) == PLAYER_USAGE && strstr(world.error, "start the server with -stage and -http"));
  CHECK(answered("pr", 2) == PLAYER_CLOSED && !strcmp(world.error, "h:1: the server closed the connection"));
  /* Whatever comes, nothing is written where it must not be. */
  for (i = 0; i < 20000; i++) {
    char text[sizeof state];
    memcpy(text, state, sizeof state);
    for (n = 0; n < 1 + i % 4; n++) {
      random = random * 1664525 + 1013904223;
      text[36 + (random >> 8) % (sizeof state - 37)] = "{}[]\",:\\u09-.eat"[random >> 28];
    }
    answered(text, i % 7 ? sizeof state - 1 : (random >> 8) % sizeof state);
  }
}

/* Listens at an address and a port, 0 for a free one, which it returns. */
static int listen_at(uint32_t address, int port, int *fd) {
  struct sockaddr_in a;
  socklen_t size = sizeof a;
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(address);
  a.sin_port = htons((uint16_t)port);
  *fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(*fd >= 0 && bind(*fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(*fd, 0) == 0);
  CHECK(getsockname(*fd, (struct sockaddr *)&a, &size) == 0);
  return ntohs(a.sin_port);
}

/* A host whose first address does not answer is reached at the next one. */
static void test_addresses(void) {
  struct sockaddr_in at[2];
  struct addrinfo list[2];
  player_client full[8], reached;
  int i, used = 0, silent, answering, port = listen_at(0x7f000001, 0, &silent);
  listen_at(0x7f000002, port, &answering);
  memset(at, 0, sizeof at);
  memset(list, 0, sizeof list);
  for (i = 0; i < 2; i++) {
    at[i].sin_family = AF_INET;
    at[i].sin_addr.s_addr = htonl(0x7f000001 + (uint32_t)i);
    at[i].sin_port = htons((uint16_t)port);
    list[i].ai_family = AF_INET;
    list[i].ai_socktype = SOCK_STREAM;
    list[i].ai_addr = (struct sockaddr *)&at[i];
    list[i].ai_addrlen = sizeof at[i];
  }
  memset(full, 0, sizeof full);
  memset(&reached, 0, sizeof reached);
  do { /* until its queue is full, and it is silent */
    CHECK(used < 8);
  } while (player_connect(&full[used++], "127.0.0.1", port, 1000) == PLAYER_OK);
  list[0].ai_next = &list[1];
  addresses = list;
  CHECK(player_connect(&reached, "host", port, 3000) == PLAYER_OK);
  player_close(&reached);
  list[0].ai_next = NULL;
  CHECK(player_connect(&reached, "host", port, 100) == PLAYER_TIMEOUT);
  addresses = NULL;
  while (used > 0) player_close(&full[--used]);
  close(silent);
  close(answering);
}

/* Programs have static clients and read their members, with a shared library that is newer than they are. With pointers
   of 64 bits the places are these; with others they follow from the same declarations. */
static void test_layout(void) {
  CHECK(sizeof(void *) != 8 || sizeof(player_client) == 56 * 1024);
  CHECK(offsetof(player_client, sonar) == 24);
  CHECK(offsetof(player_client, error) == 4696);
  CHECK(offsetof(player_client, fd) == 7260);
}

int main(void) {
  test_addresses();
  test_layout();
  rear = calloc(1, sizeof *rear);
  ranger = calloc(1, sizeof *ranger);
  imu = calloc(1, sizeof *imu);
  gps = calloc(1, sizeof *gps);
  io = calloc(1, sizeof *io);
  servo = calloc(1, sizeof *servo);
  CHECK(rear && ranger && imu && gps && io && servo);
  test_names();
  test_compact();
  test_limits();
  test_noise();
  free(rear);
  free(ranger);
  free(imu);
  free(gps);
  free(io);
  free(servo);
  test_handle();
  test_every_letter_opened();
  test_usage();
  test_simulation();
  return 0;
}
