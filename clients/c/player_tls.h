/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file player_tls.h
 *
 * TLS for the connections of player.h, with OpenSSL 1.1.1 or newer.
 * A program that wants it also compiles player_tls.c, and links with ssl and crypto;
 * player.c by itself needs neither.
 *
 *   player_client *robot = player_create();
 *   player_tls tls = {"authority.pem", "ada.pem", "ada.key", NULL};
 *   if (player_use_tls(robot, &tls) || player_connect(robot, "localhost", 7665, 5000)) ...
 */
#ifndef PLAYER_TLS_H
#define PLAYER_TLS_H

#include "player.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *authority;   /**< PEM file: servers with a certificate of it are trusted */
  const char *certificate; /**< PEM file of this client's certificate; NULL: none */
  const char *key;         /**< PEM file, without a password */
  const char *server_name; /**< in the server's certificate; NULL: the host */
} player_tls;

/** Uses TLS for all connections of c that are made from now on; c is not connected. The
   files are read now. PLAYER_USAGE: they are no certificates; error says why. A
   certificate that the server refuses is PLAYER_CLOSED, with the reason, at
   player_connect or at the first player_request. It lasts, over player_close and
   player_reconnect, until player_destroy frees it, or NULL ends it. */
player_result player_use_tls(player_client *c, const player_tls *tls);

#ifdef __cplusplus
}
#endif

#endif
