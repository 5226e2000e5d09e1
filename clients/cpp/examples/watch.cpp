// SPDX-License-Identifier: Apache-2.0
//
// Watch prints what is new, with the age of each device's data when the server
// sent it, and connects again when the server is gone. It never touches the
// robot. Arguments: [host [port [rounds]]].
#include "arguments.hpp"


using namespace std::chrono_literals;

// Prints the age of data if it is new, and reports whether it is.
template <typename Device> static bool show(const char *name, const Device &d) {
  if (!d.is_new() || !d.has_data()) return false;
  if (auto age = d.age()) std::printf(" %s %.1f ms old:", name, static_cast<double>(age->count()) / 1e3);
  return true;
}

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    robot.ages();
    auto position = robot.position(player::Access::read);
    auto sonar = robot.sonar();
    auto laser = robot.laser();
    auto misc = robot.misc();
    robot.only_new(true);
    robot.timeout(5s);
    while (a.rounds-- > 0) {
      try {
        robot.read();
      } catch (const player::ClosedError &e) {
        std::fprintf(stderr, "%s: %s, connecting again\n", argv[0], e.what());
        robot.reconnect();
        continue;
      }
      std::printf("%.3f s:", static_cast<double>(robot.server_time().count()) / 1e6);
      if (show("position", position)) std::printf(" x %d y %d heading %d", position.x_mm(), position.y_mm(), position.heading_deg());
      if (auto s = sonar.ranges_mm(); show("sonar", sonar)) std::printf(" ahead %d left %d right %d", s[3], s[0], s[7]);
      if (auto l = laser.ranges_mm(); show("laser", laser)) std::printf(" ahead %d left %d right %d", l[180], l[360], l[0]);
      if (show("battery", misc)) std::printf(" %.1f V", misc.battery_v());
      std::printf("\n");
    }
  });
}
