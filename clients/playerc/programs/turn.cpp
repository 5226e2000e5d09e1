// Turns by 90 degrees four times, in a closed loop that ends with a slow turn.
#include <libplayerc++/playerc++.h>
#include <iostream>

class Robot {
public:
  PlayerCc::PlayerClient client;
  PlayerCc::Position2dProxy pos;
  Robot(const char *host, int port) : client(host, port), pos(&client, 0) { pos.SetMotorEnable(1); }
  void TurnTo(double goal) {
    double error;
    do {
      client.Read();
      error = PlayerCc::normalize(goal - pos.GetYaw());
      pos.SetSpeed(0, fabs(error) > 0.2 ? (error > 0 ? 0.5 : -0.5) : (error > 0 ? 0.01 : -0.01));
    } while (fabs(error) > 0.01);
    pos.SetSpeed(0, 0);
    client.Read();
  }
};

int main(int argc, char **argv) {
  Robot robot(argv[1], atoi(argv[2]));
  robot.client.Read();
  double yaw = robot.pos.GetYaw();
  for (int i = 1; i <= 3; i++) {
    robot.TurnTo(PlayerCc::normalize(yaw + i * M_PI / 2));
    std::cout << "turn" << i << " " << robot.pos.GetYaw() << std::endl;
  }
  return 0;
}
