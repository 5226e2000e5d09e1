/* The common part of the programs in C. */
#include <libplayerc/playerc.h>

/* Makes a device of a type and subscribes it. */
#define DEVICE(type, device, client, index) \
  playerc_##type##_t *device = playerc_##type##_create(client, index); \
  if (playerc_##type##_subscribe(device, PLAYERC_OPEN_MODE)) return printf("missing %s\n", playerc_error_str())

static inline playerc_client_t *connected(char *arguments[]) {
  playerc_client_t *client = playerc_client_create(NULL, arguments[1], atoi(arguments[2]));
  if (playerc_client_connect(client) == 0) return client;
  fprintf(stderr, "error: %s\n", playerc_error_str());
  exit(1);
}

static inline void rounds(playerc_client_t *client, int n) {
  while (n-- > 0)
    if (!playerc_client_read(client)) printf("lost %s\n", playerc_error_str());
}
