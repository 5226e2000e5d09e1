/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file player_struct.h
 *
 * The structure behind player_client, for a program without a heap (`static player_client robot;`) and for programs of
 * version 1.0, which read its members: robot.sonar, robot.error. It must be zero before the first player_connect.
 * player.h includes this header unless PLAYER_OPAQUE is defined.
 *
 * Its size and the members before `devices` are the same in all versions of one soname, so a program that has it runs
 * with later shared libraries. The members from there on change.
 */
#ifndef PLAYER_STRUCT_H
#define PLAYER_STRUCT_H

#include "player.h"
#include "player_line.h"

enum {
  PLAYER_HEADER_ = 3,           /* bytes before the payload of a server message */
  PLAYER_MAX_AGES_ = 255,
  PLAYER_MAX_NAME_ = 64,        /* bytes (PROTOCOL 8.3) */
  /* The largest block that makes sense is of a ranger, 16386 bytes. Larger
     blocks are skipped as they arrive. */
  PLAYER_MAX_BLOCK_ = 2 + 2 * PLAYER_MAX_READINGS,
  PLAYER_MAX_HOST_ = 256,
  PLAYER_MAX_ANSWER_ = 2048     /* payload bytes (PROTOCOL 8.9) */
};

typedef struct {
  uint8_t access;        /* from the server's last reply: r, w, a, c, e; 0 before */
  uint8_t wanted;        /* what player_reconnect asked for and did not get; 0: nothing */
  bool has;              /* the latest block had valid data */
  bool aged;             /* taken_us is valid */
  uint16_t size;         /* payload of the latest block */
  uint64_t round;        /* of the latest block */
  uint64_t taken_us;     /* server time */
} player_device_;

struct player_client {
  /* The newest data. player_has reports whether a device has sent some. */
  player_position position;
  uint16_t sonar[PLAYER_SONARS]; /* clockwise from the front left; 0: not fired yet */
  uint16_t laser[PLAYER_LASERS]; /* every half degree, right to left */
  player_misc misc;
  player_gripper gripper;
  player_ptz ptz;
  player_vision vision;
  player_joystick joystick;
  uint64_t server_time_us;       /* of the latest round, if device y is read */

  char error[2560];              /* text of the last result that is not PLAYER_OK */
  bool connected;
  int fd;                        /* of the connection, for a program that waits by itself */

  /* The rest is the library's. */
  player_device_ devices[256];
  uint8_t order[256];            /* letters in the order in which they were requested */
  int ordered;
  uint64_t round;                /* number of the current or last round */
  int readers;                   /* devices open for reading */
  int left;                      /* blocks missing from this round */
  int awaited;                   /* replies still to come */
  uint32_t ages[PLAYER_MAX_AGES_];
  int age_count;
  bool fresh;                    /* only new data was asked for */
  bool request_reply;
  int frequency;                 /* 0: the server's default */
  int lifetime;                  /* of commands, ms; 0: none */
  int compact;                   /* form of rounds: PLAYER_PLAIN ... */
  char name[PLAYER_MAX_NAME_ + 1];
  char names[256][PLAYER_MAX_DEVICE_NAME]; /* of devices that the server has listed; "": not listed */
  uint8_t interfaces[256];       /* of these devices, by its letter; 0: one that the library does not know */
  bool listed;                   /* there are some */
  struct {
    void *to;
    uint8_t interface;           /* that the variable is for */
  } bound[256];                  /* by player_bind_... */
  char question;                 /* that was asked last */
  bool answered;                 /* an answer came */
  void (*line)(player_client *c, void *to, const char *text); /* takes its lines, or NULL */
  void *to;
  char reasons[PLAYER_MAX_ANSWER_ + 1]; /* why devices are refused: lines, each ended by a zero; then another zero */

  uint8_t block[PLAYER_HEADER_ + PLAYER_MAX_BLOCK_]; /* the message, or item of a compact one, being received */
  size_t have;                   /* bytes of it, with its header */
  size_t skip;                   /* bytes of it that are not kept */
  bool in_items;                 /* block is an item of a compact message */
  size_t items;                  /* bytes of that message that are still to come */
  int item_head;                 /* bytes of the item's head; -1: the head is complete; -2: the rest is skipped */
  uint32_t item;                 /* the number in the head: 4 times the size of the code, plus the form */

  char host[PLAYER_MAX_HOST_];
  int port;
  uint8_t in[4096];              /* received, not parsed yet: in[begin..end) */
  size_t begin, end;
  player_line_ *line_;           /* NULL: the socket */

  uint8_t room_[9160];           /* bytes for members of later versions: each new member reduces its size (test.c) */
};

#endif
