// SPDX-License-Identifier: Apache-2.0
//
// vfh.hpp drives a robot to a point around obstacles, from its odometry and its laser or
// its sonars:
//
//   player::Way way(player::Pioneer(), 3000, 1500); // mm, as the odometry counts
//   while (!robot.Read()) {
//     auto [speed, turn, arrived] = way.Next(*robot.position, player::LaserBeams(mount, robot.laser));
//     ...
//
// Deprecated: programs of version 1.0 have it. Others send a goal to the server's goto device
// (player_set_goal, docs/GOTO.md), which does the same with less traffic, and stays at the
// newest algorithm.
//
// It is the Vector Field Histogram of I. Ulrich and J. Borenstein ("VFH+: Reliable
// Obstacle Avoidance for Fast Mobile Robots", ICRA 1998) for a robot that turns on the
// spot, and steers to the next corner of the shortest way through a map of what the beams
// have met.
#ifndef PLAYER_VFH_HPP
#define PLAYER_VFH_HPP

#include "player.hpp"

#include <array>
#include <climits>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace player {

// A robot and how it is to drive.
struct WayConfig {
  int radius;     // mm: half of the narrowest gap that it is to pass
  int front;      // mm from the centre of rotation to the front
  int max_speed;  // mm/s
  int tolerance;  // mm from the goal, where the robot has arrived
};

// A Pioneer 2-DX, which is 380 mm wide.
inline WayConfig Pioneer() { return {250, 180, 400, 50}; }

// A robot with these parts, of which that of position is its body (PROTOCOL 8.9.3), or a
// Pioneer.
inline WayConfig ConfigOf(const std::vector<player_part> &parts) {
  constexpr int margin = 60; // mm from obstacles
  WayConfig c = Pioneer();
  for (const player_part &p : parts)
    if (p.device == 'p' && p.width > 0 && p.length > 0) {
      c.radius = static_cast<int>(p.width / 2) + margin;
      c.front = static_cast<int>(p.x + p.length / 2);
    }
  return c;
}

// A reading of a sensor, in mm and half degrees in the robot's frame.
struct Beam {
  int x, y; // of the sensor
  int bearing;
  int range; // of what is free; 0: nothing is known
  bool echo;
};

// The beams of a scan by a laser that is mounted so.
inline std::vector<Beam> LaserBeams(const player_part &mount, const unsigned short *ranges) {
  constexpr int far = 4000;
  auto whole = [](double v) { return static_cast<int>(std::floor(v + 0.5)); };
  std::vector<Beam> beams;
  for (int i = 0; i < PLAYER_LASERS; i += 2)
    beams.push_back({whole(mount.x), whole(mount.y), whole(2 * mount.heading) - 180 + i, std::min<int>(ranges[i], far), ranges[i] < far});
  return beams;
}

// The beams of sonars. Those without a mount are left out.
inline std::vector<Beam> SonarBeams(const std::vector<player_part> &mounts, const unsigned short *ranges) {
  constexpr int far = 1400; // mm: further away the cone of a sonar is wider than a door
  auto whole = [](double v) { return static_cast<int>(std::floor(v + 0.5)); };
  std::vector<Beam> beams;
  for (const player_part &m : mounts)
    if (m.device == 's' && m.number >= 0 && m.number < PLAYER_SONARS)
      beams.push_back({whole(m.x), whole(m.y), whole(2 * m.heading), std::min<int>(ranges[m.number], far), ranges[m.number] < far});
  return beams;
}

// The way of a robot to a goal.
class Way {
public:
  struct Command {
    int speed, turn; // mm/s, deg/s
    bool arrived;
  };

  // The goal is in mm as the odometry counts.
  Way(const WayConfig &config, int x, int y) : c(config), goal_x(x), goal_y(y) {
    for (size_t i = 0; i < cosine.size(); i++) cosine[i] = static_cast<int>(std::floor(std::cos(static_cast<double>(i) * M_PI / 360) * 65536 + 0.5));
    int reach = (c.radius + soft) / cell;
    for (int v = -reach; v <= reach; v++)
      for (int u = -reach; u <= reach; u++) {
        int d = (u * u + v * v) * cell * cell;
        if (d <= c.radius * c.radius) inner.push_back(v * side + u);
        else if (d <= (c.radius + soft) * (c.radius + soft)) outer.push_back(v * side + u);
      }
  }

  // Takes what the robot reports and returns what it is to do. It expects ten reports in
  // a second.
  Command Next(const CPosition &p, const std::vector<Beam> &beams) {
    int x = p.xpos, y = p.ypos, heading = p.heading, at = Index(x, y);
    if (at < 0 || !begun || !Within(at, border)) Begin(x, y);
    See(x, y, heading, beams);
    if (Distance(goal_x - x, goal_y - y) <= c.tolerance) return {0, 0, true};
    if (p.stalls && backing == 0) { // it has met what the beams do not
      backing = retreat;
      auto [dx, dy] = Turned(c.front + cell, 2 * heading);
      Set(Index(x + dx, y + dy), certain);
    }
    if (backing > 0) {
      backing--;
      wait = 0;
      return {-back, 0, false};
    }
    wait--;
    if (wait < 0 || (!pivoting && wait < turning - period)) {
      Plan(x, y);
      wait = turning - 1;
    }
    auto [speed, turn] = Steer(x, y, heading);
    return {speed, turn, false};
  }

private:
  // The map: a square of cells around the place where the robot was when it was begun.
  static constexpr int cell = 100, side = 400, border = 50, room = 12; // mm, cells
  static constexpr int certain = 15, occupied = 8, shadow = 150;
  // The way through the map.
  static constexpr int period = 5, turning = 40, patience = 40000;
  static constexpr int straight = 10, diagonal = 14, soft = 300, detour = 3, own = 400, ahead = 1500, leg = 50;
  // The histogram.
  static constexpr int width = 5, sectors = 360 / width, window = 1200, least = 400, high = 30, low = 15, wide = 80;
  static constexpr int to_goal = 5, to_turn = 2, to_last = 2;
  // The commands.
  static constexpr int max_turn = 60, pivot = 45, near = 500, near_by = 20, front = 30, creep = 40, retreat = 10, back = 150;

  WayConfig c;
  int goal_x, goal_y;
  std::array<int, 720> cosine{};
  bool begun = false, pivoting = false;
  int x0 = 0, y0 = 0; // mm, of the map's corner
  std::vector<unsigned char> cells, hard_near, soft_near;
  std::vector<int> inner, outer; // offsets of cells within the radius, and beyond it
  int aim_x = 0, aim_y = 0, wait = 0, last = 0, backing = 0;
  std::array<bool, sectors> blocked{};
  std::vector<int> cost, parent;

  static int Distance(int x, int y) { return static_cast<int>(std::sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y)); }
  static int Direction(int x, int y) { return (static_cast<int>(std::floor(std::atan2(y, x) * 180 / M_PI + 0.5)) + 360) % 360; }
  static int Wrap(int d) { return ((d + 180) % 360 + 360) % 360 - 180; }

  void Begin(int x, int y) {
    begun = true;
    x0 = x - side * cell / 2;
    y0 = y - side * cell / 2;
    for (auto *all : {&cells, &hard_near, &soft_near}) all->assign(side * side, 0);
    wait = 0;
  }

  // Returns the cell of a place, or -1 outside of the map.
  int Index(int x, int y) const {
    x -= x0;
    y -= y0;
    if (x < 0 || y < 0 || x >= side * cell || y >= side * cell) return -1;
    return y / cell * side + x / cell;
  }

  static bool Within(int i, int margin) {
    int x = i % side, y = i / side;
    return x >= margin && y >= margin && x < side - margin && y < side - margin;
  }

  std::pair<int, int> Centre(int i) const { return {x0 + i % side * cell + cell / 2, y0 + i / side * cell + cell / 2}; }

  // Returns a vector of a length that points to a bearing in half degrees.
  std::pair<int, int> Turned(int length, int bearing) const {
    auto b = static_cast<size_t>((bearing % 720 + 720) % 720);
    return {(length * cosine[b] + 32768) >> 16, (length * cosine[(b + 540) % 720] + 32768) >> 16};
  }

  // Draws beams into the map: first what is free, then the echoes.
  void See(int x, int y, int heading, const std::vector<Beam> &beams) {
    auto from = [&](const Beam &b) -> std::pair<int, int> {
      auto [ax, ay] = Turned(b.x, 2 * heading);
      auto [bx, by] = Turned(b.y, 2 * heading + 180);
      return {x + ax + bx, y + ay + by};
    };
    for (const Beam &b : beams) {
      auto [sx, sy] = from(b);
      for (int r = 0; r <= b.range - shadow; r += cell) {
        auto [dx, dy] = Turned(r, b.bearing + 2 * heading);
        int i = Index(sx + dx, sy + dy);
        if (i >= 0 && cells[At(i)] > 0) Set(i, cells[At(i)] - 1);
      }
    }
    for (const Beam &b : beams) {
      if (!b.echo || b.range <= 0) continue;
      auto [sx, sy] = from(b);
      auto [dx, dy] = Turned(b.range, b.bearing + 2 * heading);
      Set(Index(sx + dx, sy + dy), certain);
    }
  }

  static size_t At(int i) { return static_cast<size_t>(i); }

  // Changes a cell. What is near an obstacle is counted.
  void Set(int i, int value) {
    if (i < 0 || !Within(i, room)) return;
    bool before = cells[At(i)] >= occupied, now = value >= occupied;
    cells[At(i)] = static_cast<unsigned char>(value);
    if (before == now) return;
    for (int o : inner) now ? hard_near[At(i + o)]++ : hard_near[At(i + o)]--;
    for (int o : outer) now ? soft_near[At(i + o)]++ : soft_near[At(i + o)]--;
  }

  // Chooses what is steered for: the furthest place on the shortest way (A*) that can be
  // reached in a straight line, or the goal if there is no way.
  void Plan(int x, int y) {
    static constexpr int neighbours[8][3] = {{1, 0, straight},  {0, 1, straight},   {-1, 0, straight},   {0, -1, straight},
                                             {1, 1, diagonal}, {-1, 1, diagonal}, {-1, -1, diagonal}, {1, -1, diagonal}};
    aim_x = goal_x;
    aim_y = goal_y;
    int start = Index(x, y);
    auto clip = [](int v) { return std::clamp(v / cell, room, side - 1 - room); };
    int goal = clip(goal_y - y0) * side + clip(goal_x - x0);
    cost.assign(side * side, 0); // not reached; below zero: done
    parent.resize(side * side);
    using Item = std::pair<int, int>; // the least cost of a way through a cell, and the cell
    std::priority_queue<Item, std::vector<Item>, std::greater<Item>> open;
    open.push({0, goal});
    cost[At(goal)] = 1;
    for (int looked = 0; !open.empty() && looked < patience; looked++) {
      int at = open.top().second;
      open.pop();
      if (at == start) {
        Follow(x, y, start, goal);
        return;
      }
      int g = cost[At(at)];
      if (g < 0) continue;
      cost[At(at)] = -g;
      for (auto &n : neighbours) {
        int next = at + n[1] * side + n[0];
        if (!Within(next, room) || cost[At(next)] < 0 || !Passable(next, start, goal)) continue;
        int step = n[2] * (soft_near[At(next)] > 0 || hard_near[At(next)] > 0 ? detour : 1);
        if (cost[At(next)] != 0 && g + step >= cost[At(next)]) continue;
        cost[At(next)] = g + step;
        parent[At(next)] = at;
        int dx = std::abs(next % side - start % side), dy = std::abs(next / side - start / side);
        open.push({g + step + straight * std::max(dx, dy) + (diagonal - straight) * std::min(dx, dy), next});
      }
    }
  }

  // Reports whether the robot's centre may be in a cell.
  bool Passable(int i, int start, int goal) const {
    if (hard_near[At(i)] == 0) return true;
    auto apart = [&](int o) { return cell * Distance(i % side - o % side, i / side - o / side); };
    return cells[At(i)] < occupied && (apart(start) < own || apart(goal) < own);
  }

  // Steers for the furthest cell of the way that is in sight.
  void Follow(int x, int y, int start, int goal) {
    int best = start;
    for (int i = start;; i = parent[At(i)]) {
      auto [cx, cy] = Centre(i);
      if (Distance(cx - x, cy - y) > ahead) break;
      if (InSight(x, y, cx, cy, start, goal)) best = i;
      if (i == goal) break;
    }
    if (best == start && start != goal) best = parent[At(start)];
    if (best != goal) std::tie(aim_x, aim_y) = Centre(best);
  }

  // Reports whether the robot's centre may take the straight line.
  bool InSight(int x, int y, int to_x, int to_y, int start, int goal) const {
    int n = Distance(to_x - x, to_y - y) / leg + 1;
    for (int k = 1; k <= n; k++) {
      int i = Index(x0 + ((x - x0) * (n - k) + (to_x - x0) * k) / n, y0 + ((y - y0) * (n - k) + (to_y - y0) * k) / n);
      if (i < 0 || !Passable(i, start, goal)) return false;
    }
    return true;
  }

  // Returns the command that drives towards what is steered for.
  std::pair<int, int> Steer(int x, int y, int heading) {
    int target = Direction(aim_x - x, aim_y - y), clear = Histogram(x, y, heading);
    last = Choose(target, heading);
    int wrong = Wrap(last - heading), remaining = Distance(goal_x - x, goal_y - y), spot = remaining < near ? near_by : pivot;
    int turn = std::clamp(wrong * 3 / 2, -max_turn, max_turn);
    pivoting = std::abs(wrong) >= spot;
    if (pivoting) return {0, turn};
    int speed = std::min({c.max_speed, std::max(clear - c.front - cell, creep), std::max(remaining, creep)});
    return {speed * (spot - std::abs(wrong)) / spot, turn};
  }

  // Blocks the directions in which the robot would meet obstacles. It returns how far away
  // the nearest one ahead is, from the robot's centre.
  int Histogram(int x, int y, int heading) {
    int radius = std::min(std::max(Distance(aim_x - x, aim_y - y) + cell, least), window), clear = window;
    std::array<int, sectors> density{};
    int cx = (x - x0) / cell, cy = (y - y0) / cell, reach = radius / cell + 1;
    for (int j = cy - reach; j <= cy + reach; j++)
      for (int i = cx - reach; i <= cx + reach; i++) {
        if (cells[At(j * side + i)] < occupied) continue;
        auto [px, py] = Centre(j * side + i);
        int d = std::max(Distance(px - x, py - y), 1);
        if (d > radius) continue;
        int at = Direction(px - x, py - y);
        if (std::abs(Wrap(at - heading)) <= front) clear = std::min(clear, d);
        // The obstacle is made larger by the robot: the robot becomes a point.
        int half = d > c.radius ? static_cast<int>(std::floor(std::asin(static_cast<double>(c.radius) / d) * 180 / M_PI + 0.5)) : 90;
        for (int s = 0; s < sectors; s++)
          if (std::abs(Wrap(s * width - at)) <= half) density[At(s)] += 100 - 100 * d * d / (window * window);
      }
    for (size_t s = 0; s < sectors; s++) {
      if (density[s] > high) blocked[s] = true;
      else if (density[s] < low) blocked[s] = false;
    }
    return clear;
  }

  // Returns the best direction: in the middle of a narrow opening, at one side of a wide
  // one, or straight to the target.
  int Choose(int target, int heading) const {
    int first = 0;
    while (first < sectors && !blocked[At(first)]) first++;
    if (first == sectors) return target;
    int best = target, cheapest = INT_MAX;
    auto attempt = [&](int d) {
      int price = to_goal * std::abs(Wrap(d - target)) + to_turn * std::abs(Wrap(d - heading)) + to_last * std::abs(Wrap(d - last));
      if (price >= cheapest) return;
      best = (d % 360 + 360) % 360;
      cheapest = price;
    };
    for (int i = 0; i < sectors; i++) {
      int begin = first + i, n = 0;
      if (blocked[At(begin % sectors)]) continue;
      while (!blocked[At((begin + n) % sectors)]) n++;
      i += n;
      int from = begin * width, to = (begin + n - 1) * width;
      if (to - from < wide) {
        attempt((from + to) / 2);
        continue;
      }
      attempt(from + wide / 2);
      attempt(to - wide / 2);
      int into = (target - from % 360 + 360) % 360;
      if (into >= wide / 2 && into <= to - from - wide / 2) attempt(target);
    }
    return best;
  }
};

}  // namespace player

#endif
