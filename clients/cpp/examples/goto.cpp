// SPDX-License-Identifier: Apache-2.0
//
// Goto drives to a point around obstacles: the server has the planner (docs/GOTO.md), and is started with -goto. The
// point is in metres from where the odometry began.
// Arguments: [-addr host:port] [-step] [-n tenths] [--] x y. It gives up after so many tenths of
// a second. With -step the robot is in a world in step, which waits for this program.
#include "arguments.hpp"

using namespace std::chrono_literals;

int main(int argc, char **argv) {
  std::string address = "localhost:6665";
  bool step = false;
  long limit = 3000;
  while (argc > 3) {
    std::string option = argv[1];
    int used = 1;
    if (option == "-step") step = true;
    else if (option == "-addr") address = argv[used++ + 1];
    else if (option == "-n") limit = std::atol(argv[used++ + 1]);
    else if (option != "--") break;
    argc -= used;
    argv += used;
  }
  if (argc != 3) {
    std::fprintf(stderr, "goto: give x and y in metres, as goto 4.5 -1.2\n");
    return 2;
  }
  return run("goto", [&] {
    auto mm = [](const char *metres) { return static_cast<std::int32_t>(std::lround(std::atof(metres) * 1000)); };
    auto colon = address.rfind(':');
    int port = colon == std::string::npos ? PLAYER_PORT : std::atoi(address.c_str() + colon + 1);
    player::Client robot(address.substr(0, colon), port);
    if (step) robot.on_request(true);
    auto position = robot.position(player::Access::read);
    auto drive = robot.go();
    robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
    drive.to(mm(argv[1]), mm(argv[2]));
    std::optional<std::chrono::milliseconds> begin;  // as the robot counts it
    std::chrono::milliseconds since{};
    while (since < limit * 100ms && !drive.ended()) {
      drive.keep();  // within the lifetime
      if (step) robot.request_data();
      robot.read();
      if (!position.has_data()) continue;
      if (!begin) begin = position.time();
      since = position.time() - *begin;
    }
    if (drive.state() == player::GotoState::stopped) std::fprintf(stderr, "goto: %s\n", drive.reason().c_str());
    std::printf("arrived=%d time=%.1f\n", drive.state() == player::GotoState::arrived, static_cast<double>(since.count()) / 1000);
    drive.stop();
  });
}
