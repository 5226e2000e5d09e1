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

/* Bytes of a broken server change nothing but data, and are all used up. */
static void test_noise(void) {
  static uint8_t b[20000];
  uint32_t state = 1;
  int run;
  for (run = 0; run < 300; run++) {
    size_t i;
    int rounds = 0;
    open_devices();
    for (i = 0; i < sizeof b; i++) {
      state = state * 1664525 + 1013904223;
      b[i] = (uint8_t)(state >> 24);
      if (run % 2 && b[i] < 160) b[i] = (uint8_t)("pslmgvzjyr\0\0\0\1\2\3\6\25\40\100"[b[i] % 20]);
    }
    feed(b, sizeof b, 1 + (size_t)run, &rounds);
    CHECK(c.ordered <= 256 && c.have <= sizeof c.block && c.left >= 0 && c.awaited == 0);
    CHECK(c.age_count >= 0 && c.age_count <= PLAYER_MAX_AGES_);
    for (i = 0; i < PLAYER_CHANNELS; i++) CHECK(c.vision.count[i] <= PLAYER_MAX_BLOBS);
  }
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
  CHECK(player_connect(&c, "no.such.host.invalid", 6665, 1000) == PLAYER_CLOSED && c.error[0]);
}

static player_mover movers[2];
static player_simulation world = {.host = "h", .port = 1, .movers = movers, .room = 2};

/* Reads an answer of a dashboard. */
static player_result answered(const char *text, size_t size) {
  CHECK(size <= sizeof world.line.in);
  memcpy(world.line.in, text, size);
  world.line.begin = 0;
  world.line.end = size;
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

int main(void) {
  test_addresses();
  test_noise();
  test_every_letter_opened();
  test_usage();
  test_simulation();
  return 0;
}
