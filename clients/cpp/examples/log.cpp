// SPDX-License-Identifier: Apache-2.0
//
// Log writes where the robot is and the readings of its sonars, a line of comma-separated values
// for each round. It never touches the robot: another program drives it.
// Arguments: [host [port [rounds]]].
#include "arguments.hpp"

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    robot.ages();  // with the time
    auto position = robot.position(player::Access::read);
    auto sonar = robot.sonar();
    std::printf("seconds,x_mm,y_mm,heading_deg");
    for (std::size_t i = 0; i < sonar.ranges_mm().size(); i++) std::printf(",sonar%zu_mm", i);
    std::printf("\n");
    while (a.rounds > 0) {
      robot.read();
      if (!position.has_data() || !sonar.has_data()) continue;
      a.rounds--;
      std::printf("%.3f,%d,%d,%d", static_cast<double>(robot.server_time().count()) / 1e6, position.x_mm(), position.y_mm(), position.heading_deg());
      for (auto mm : sonar.ranges_mm()) std::printf(",%d", mm);
      std::printf("\n");
    }
  });
}
