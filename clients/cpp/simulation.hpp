// SPDX-License-Identifier: Apache-2.0
/// @file simulation.hpp
/// Reads and changes the world of a simulation (docs/STAGE.md), on the
/// address of the dashboard. The compiler has to find player.hpp, player_simulation.h and player.h.
///
///     player::World world("localhost", 8080);
///     world.order(player::Order().seed(7).move("r0", 1, 0.5, 90));
///     double x = world.mover("r0").x;
///
/// It needs the right to read, and for orders the right to write. A world in step changes
/// between two of its steps: right before its client requests the next data. Lengths are
/// in m, angles in degrees, times in simulated seconds.
#ifndef PLAYER_SIMULATION_HPP
#define PLAYER_SIMULATION_HPP

#include "player.hpp"
#include "player_simulation.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <locale>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace player {

/// A change of the world, of several parts: they are carried out as reset, seed, moves, colours, speed, pause, steps,
/// without another order in between.
class Order {
  std::string first, moves, colors, last;

public:
  /// All is as at the start, the time also; clients stay connected.
  Order &reset() { return member(first, "reset", "true"); }
  /// The same with another seed of all random numbers.
  Order &seed(std::uint64_t n) { return member(first, "seed", std::to_string(n)); }
  /// A robot or a thing that can move: m, deg counterclockwise from the x axis. All are moved or, without room, none.
  Order &move(const std::string &name, double x_m, double y_m, double heading_deg) {
    item(moves, "{\"name\":" + quoted(name) + ",\"x\":" + text(x_m) + ",\"y\":" + text(y_m) + ",\"heading\":" + text(heading_deg) + '}');
    return *this;
  }
  /// A robot or any other thing: "#rrggbb" or the name of a colour.
  Order &color(const std::string &name, const std::string &color) {
    item(colors, "{\"name\":" + quoted(name) + ",\"color\":" + quoted(color) + '}');
    return *this;
  }
  /// 0 to 1000 simulated seconds a second; 0: as fast as possible.
  Order &speed(double times) { return member(last, "speed", text(times)); }
  /// Stops the time, or lets it go on.
  Order &pause(bool on) { return member(last, "pause", on ? "true" : "false"); }
  /// 0 to 1000 steps of 10 ms, also while the world is paused.
  Order &step(int n) { return member(last, "step", std::to_string(n)); }

  /// Returns it in JSON (docs/STAGE.md).
  std::string json() const {
    std::string members = first;
    if (!moves.empty()) item(members, "\"move\":[" + moves + ']');
    if (!colors.empty()) item(members, "\"color\":[" + colors + ']');
    if (!last.empty()) item(members, last);
    return '{' + members + '}';
  }

private:
  static void item(std::string &list, const std::string &more) { list += (list.empty() ? "" : ",") + more; }
  Order &member(std::string &list, const char *name, const std::string &value) {
    item(list, '"' + std::string(name) + "\":" + value);
    return *this;
  }
  static std::string text(double v) {
    std::ostringstream out;
    out.imbue(std::locale::classic());  // a program's own may write 0,5
    out.precision(17);
    out << v;
    return out.str();
  }
  static std::string quoted(const std::string &s) {
    std::string q = "\"";
    for (char c : s) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') q += escape;
      else q += c;
    }
    return q + '"';
  }
};

/// The world of a simulation. Its calls throw Error: RefusedError for an order that is not possible, which changed
/// nothing. A World can be moved, not copied.
class World {
public:
  /// Asks for nothing yet. Each call waits as long as the timeout; a negative one waits for ever.
  explicit World(std::string name = "localhost", int port = 8080, std::chrono::milliseconds timeout = std::chrono::minutes(1))
      : host(std::move(name)), world(new player_simulation()), limit(timeout) {
    world->port = port;
    world->line = player_create();
    if (!world->line) throw std::bad_alloc();
  }

  std::chrono::milliseconds timeout() const { return limit; }
  void timeout(std::chrono::milliseconds t) { limit = t; }

  /// Reads the state.
  void read() { ask(nullptr); }
  /// Has an order carried out and reads the state afterwards.
  void order(const Order &o) { ask(o.json().c_str()); }
  /// The same with an order in JSON (docs/STAGE.md).
  void order(const std::string &json) { ask(json.c_str()); }

  // ---- The state after the latest call that did not throw ----

  double time_s() const { return now; }     ///< simulated seconds
  double speed() const { return times; }    ///< simulated seconds a second; 0: as fast as possible
  bool paused() const { return stopped; }
  bool finished() const { return over; }
  std::uint64_t seed() const { return random; }
  /// Robots, then things that can move. The next call overwrites them.
  Span<const player_mover> movers() const { return {known.data(), known.size()}; }
  /// The mover of a name. Throws UsageError if there is none.
  const player_mover &mover(const std::string &name) const {
    for (const player_mover &m : known)
      if (name == m.name) return m;
    detail::raise(PLAYER_USAGE, "the world has no robot and no thing that can move with the name " + name);
  }
  /// The fiducials that a robot's finder sees, at most PLAYER_MAX_SIGHTINGS.
  static Span<const player_sighting> sees(const player_mover &m) {
    return {m.sees, static_cast<std::size_t>(std::min<int>(m.seen, PLAYER_MAX_SIGHTINGS))};
  }

  /// Has the arguments for player_use_tls of player_tls.h, to ask by https.
  player_client *handle() const { return world->line; }

private:
  struct Free {
    void operator()(player_simulation *w) const {
      player_destroy(w->line);
      delete w;
    }
  };

  std::string host;
  std::unique_ptr<player_simulation, Free> world;
  std::vector<player_mover> room = std::vector<player_mover>(16), known;
  double now = 0, times = 0;
  bool stopped = false, over = false;
  std::uint64_t random = 0;
  std::chrono::milliseconds limit;

  void ask(const char *order) {
    for (;;) {
      world->host = host.c_str();
      world->movers = room.data();
      world->room = static_cast<int>(room.size());
      if (player_result r = player_simulation_order(world.get(), order, detail::ms_of(limit))) detail::raise(r, world->error);
      if (world->count <= world->room) break;
      room.resize(static_cast<std::size_t>(world->count));  // an order is carried out once
      order = nullptr;
    }
    now = world->time;
    times = world->speed;
    stopped = world->paused;
    over = world->finished;
    random = world->seed;
    known.assign(room.begin(), room.begin() + world->count);
  }
};

/// A World by results in place of exceptions, for programs of version 1.0.
class Simulation {
  World world;
  std::string error;

public:
  // The state after the latest call that returned zero.
  double time = 0;
  double speed = 0;  // simulated seconds a second; 0: as fast as possible
  bool paused = false, finished = false;
  uint64_t seed = 0;
  std::vector<player_mover> movers;  // robots, then things

  // Of each call. Negative: for ever.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);

  explicit Simulation(std::string name = "localhost", int port = 8080) : world(std::move(name), port) {}

  // Reads the state. It and Order return zero or a player_result (player.h).
  int Read() { return Result([this] { world.read(); }); }

  // Has an order in JSON carried out and reads the state afterwards. One that is not possible is PLAYER_REFUSED.
  int Order(const std::string &json) { return Result([&] { world.order(json); }); }

  // Has the arguments for player_use_tls of player_tls.h, to ask by https.
  player_client *Client() { return world.handle(); }

  // The text of the last result that was not zero.
  const char *Error() const { return error.c_str(); }

private:
  template <typename Call> int Result(Call call) {
    world.timeout(timeout);
    try {
      call();
    } catch (const player::Error &e) {
      error = e.what();
      return e.code();
    }
    time = world.time_s();
    speed = world.speed();
    paused = world.paused();
    finished = world.finished();
    seed = world.seed();
    movers.assign(world.movers().begin(), world.movers().end());
    return 0;
  }
};

}  // namespace player

#endif
