/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file player_line.h
 *
 * The layer of a connection above its socket. player_tls.c has one; programs do not call this.
 */
#ifndef PLAYER_LINE_H
#define PLAYER_LINE_H

#include "player.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int (*open)(player_client *c);                                    /* 1: done, -1: see errno */
  ptrdiff_t (*send)(player_client *c, const void *b, size_t n);     /* as send */
  ptrdiff_t (*receive)(player_client *c, void *b, size_t n);        /* as recv */
  void (*close)(player_client *c);                                  /* before the socket */
  void (*forget)(player_client *c);                                 /* frees it */
  short events;                                                     /* what to poll for after EAGAIN */
  char why[200];                                                    /* text of EPROTO */
} player_line_;

/** Returns the line of a client, or NULL: the socket. */
player_line_ *player_get_line_(const player_client *c);

/** Gives a client a line, NULL for the socket, in the place of one that was forgotten. It is not connected. */
void player_set_line_(player_client *c, player_line_ *line);

/** Has the text of a result that is not PLAYER_OK, and returns that. */
player_result player_fail_(player_client *c, player_result r, const char *text);

#ifdef __cplusplus
}
#endif

#endif
