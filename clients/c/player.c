/* SPDX-License-Identifier: Apache-2.0
 *
 * The C client of player.h and player_simulation.h, as one file to compile: its parts are
 * in src, in the order in which they need each other. Those up to sockets.c do no input
 * or output. A release has all of them in one file (packaging/libraries.go).
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* before the first header, which takes it as it is then */
#endif
#define _DARWIN_C_SOURCE 1 /* SO_NOSIGPIPE, on macOS */

#include "player_simulation.h"
#include "player_struct.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN 1 /* without it "interface" is a macro */
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#endif

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

#include "src/devices.c"
#include "src/data.c"
#include "src/rounds.c"
#include "src/compact.c"
#include "src/messages.c"
#include "src/state.c"
#include "src/sockets.c"
#include "src/connection.c"
#include "src/questions.c"
#include "src/access.c"
#include "src/commands.c"
#include "src/reconnect.c"
#include "src/simulation.c"
