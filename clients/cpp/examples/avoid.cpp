// SPDX-License-Identifier: Apache-2.0
//
// Avoid drives around obstacles with the sonars, as in appendix C of the Player
// manual: the nearer an obstacle, the slower it drives; it turns towards the side
// with more room; without room it backs off. Arguments: [host [port [rounds]]].
#include "arguments.hpp"

using namespace std::chrono_literals;

// Returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm,
// 150 from 750 mm on. A sonar that has not fired yet reads 0; a side on which none
// has fired does not drive.
static int push(player::Span<const std::uint16_t> ranges_mm, std::size_t first) {
  int nearest = 0;
  for (std::size_t i = first; i < first + 3; i++)
    if (ranges_mm[i] != 0 && (nearest == 0 || ranges_mm[i] < nearest)) nearest = ranges_mm[i];
  return nearest == 0 ? 0 : std::min(100 * nearest / 300 - 100, 150);
}

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    auto sonar = robot.sonar();
    auto wheels = robot.position();
    robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
    while (a.rounds-- > 0) {
      robot.read();
      if (!sonar.has_data()) continue;  // the sonars have not fired yet
      // Sonars 1 to 3 look ahead and to the left, 4 to 6 to the right.
      int left = push(sonar.ranges_mm(), 1), right = push(sonar.ranges_mm(), 4);
      // Room on both sides adds up to speed, the difference to turning.
      wheels.drive(left + right, left - right);
    }
  });
}
