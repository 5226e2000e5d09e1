// SPDX-License-Identifier: Apache-2.0
/// @file simulation.hpp
/// Reads and changes the world of a simulation (docs/STAGE.md), on the
/// address of the dashboard. The compiler has to find player_simulation.h and player.h.
///
///   player::Simulation world("localhost", 8080);
///   if (world.Order(R"({"seed":7,"move":[{"name":"r0","x":1,"y":0.5,"heading":90}]})")) return 1;
///   double x = world.movers[0].x;
///
/// It needs the right to read, and for Order the right to write. A world in step changes
/// between two of its steps: right before its client requests the next data. Lengths are
/// in m, angles in degrees, times in simulated seconds.
#ifndef PLAYER_SIMULATION_HPP
#define PLAYER_SIMULATION_HPP

#include "player_simulation.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace player {

class Simulation {
public:
  // The state after the latest call that returned zero.
  double time = 0;
  double speed = 0;  // simulated seconds a second; 0: as fast as possible
  bool paused = false, finished = false;
  uint64_t seed = 0;
  std::vector<player_mover> movers;  // robots, then things

  // Of each call. Negative: for ever.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);

  explicit Simulation(std::string name = "localhost", int port = 8080)
      : host(std::move(name)), world(new player_simulation()) {
    world->port = port;
    world->line = player_create();
    if (!world->line) throw std::bad_alloc();
  }

  // Reads the state. It and Order return zero or a player_result (player.h).
  int Read() { return Ask(nullptr); }

  // Has an order carried out and reads the state afterwards. The order is JSON: any of
  // reset, seed, move, color, speed, pause and step, carried out in this order and without
  // another order in between. One that is not possible is PLAYER_REFUSED.
  int Order(const std::string &json) { return Ask(json.c_str()); }

  // Has the arguments for player_use_tls of player_tls.h, to ask by https.
  player_client *Client() { return world->line; }

  // The text of the last result that was not zero.
  const char *Error() const { return world->error; }

private:
  struct Free {
    void operator()(player_simulation *w) const {
      player_destroy(w->line);
      delete w;
    }
  };

  std::string host;
  std::unique_ptr<player_simulation, Free> world;
  std::vector<player_mover> room = std::vector<player_mover>(16);

  int Ask(const char *order) {
    for (;;) {
      world->host = host.c_str();
      world->movers = room.data();
      world->room = static_cast<int>(room.size());
      int ms = timeout.count() < 0 ? -1 : static_cast<int>(std::min<std::chrono::milliseconds::rep>(timeout.count(), INT32_MAX));
      if (player_result r = player_simulation_order(world.get(), order, ms)) return r;
      if (world->count <= world->room) break;
      room.resize(static_cast<size_t>(world->count));  // an order is carried out once
      order = nullptr;
    }
    time = world->time;
    speed = world->speed;
    paused = world->paused;
    finished = world->finished;
    seed = world->seed;
    movers.assign(room.begin(), room.begin() + world->count);
    return 0;
  }
};

}  // namespace player

#endif
