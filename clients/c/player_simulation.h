/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file player_simulation.h
 *
 * Reads and changes the world of a simulation (docs/STAGE.md), on the address of the dashboard. It is part of player.c.
 *
 *   static player_mover movers[20];
 *   player_simulation world = {.host = "localhost", .port = 8080, .movers = movers, .room = 20};
 *   if (player_simulation_order(&world, "{\"seed\":7,\"move\":[{\"name\":\"r0\",\"x\":1,\"y\":0.5,\"heading\":90}]}", 5000))
 *     return fprintf(stderr, "%s\n", world.error), 1;
 *
 * It needs the right to read, and for an order the right to write. A world in step
 * changes between two of its steps: right before its client requests the next data.
 * By https it asks with a client of the program's own: world.line = player_create(), and player_use_tls(world.line, &tls)
 * of player_tls.h. Lengths are in m, angles in degrees.
 */
#ifndef PLAYER_SIMULATION_H
#define PLAYER_SIMULATION_H

#include "player.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLAYER_MAX_MOVER_NAME = 64, /**< bytes with the zero; a longer name is cut */
  PLAYER_MAX_SIGHTINGS = 8    /* of a robot that are kept */
};

/** A fiducial that a robot's fiducial finder sees. */
typedef struct {
  char name[PLAYER_MAX_MOVER_NAME]; /**< of the robot or thing that has it */
  int id;                           /**< its fiducial_return; 0: too far away to be identified */
  double range, bearing;            /**< counterclockwise from the direction of the finder */
} player_sighting;

/** A robot, or a thing that can move. */
typedef struct {
  char name[PLAYER_MAX_MOVER_NAME];
  bool robot;
  double x, y, heading; /**< counterclockwise from the x axis */
  char color[PLAYER_MAX_MOVER_NAME]; /**< #rrggbb; "": an older server */
  int seen;             /**< may be more than are kept */
  player_sighting sees[PLAYER_MAX_SIGHTINGS];
} player_mover;

typedef struct {
  const char *host;
  int port;
  player_mover *movers; /**< the caller's */
  int room;             /**< for so many; the others are counted only */

  /* The state, when a call has returned PLAYER_OK. */
  double time;  /**< simulated seconds */
  double speed; /**< simulated seconds a second; 0: as fast as possible */
  bool paused, finished;
  uint64_t seed;
  int count; /**< of robots, then things; may be more than there is room for */

  char error[512]; /**< text of the last result that is not PLAYER_OK */

  player_client *line; /**< the caller's, for the connections; NULL: each call has one of its own */

  /* The rest is the library's. */
  int64_t deadline;
  player_result broken; /**< why no more of the answer comes */
} player_simulation;

/** Has an order carried out and reads the state afterwards. The order is JSON
   (docs/STAGE.md): any of reset, seed, move, color, speed, pause and step, carried out in
   this order and without another order in between. One that is not possible is
   PLAYER_REFUSED. NULL changes nothing. The timeout is in ms. */
player_result player_simulation_order(player_simulation *w, const char *order, int timeout);

/** Reads the state. */
player_result player_simulation_state(player_simulation *w, int timeout);

#ifdef __cplusplus
}
#endif

#endif
