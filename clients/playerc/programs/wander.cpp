// Wanders with the sonars for a minute, or so many Reads, with the loop of the tutorials. One program drives as many
// robots as it is given, each with a client of its own.
#include <iostream>
#include <libplayerc++/playerc++.h>
#include <vector>
using namespace PlayerCc;

class Member {
  PlayerClient robot;
  SonarProxy sp;
  Position2dProxy pp;
  int turning, freeing, attempts;

public:
  double x, y, yaw, way;
  int stalls;

  Member(const char *host, int port) : robot(host, port), sp(&robot, 0), pp(&robot, 0), turning(0), freeing(0), attempts(0), x(0), y(0), yaw(0), way(0), stalls(0) {
    pp.SetMotorEnable(true);
  }
  void Step() {
    // read from the proxies
    robot.Read();

    double left = min(sp[1], sp[2]), ahead = min(sp[3], sp[4]), right = min(sp[5], sp[6]);
    if (turning == 0 && (ahead < 0.9 || min(left, right) < 0.6)) turning = left > right ? 1 : -1;
    if (ahead > 1.2 && min(left, right) > 0.7) turning = 0;
    double speed = turning ? 0 : 0.3, turnrate = turning * dtor(40);
    if (pp.GetStall() && freeing == 0) { // each attempt is longer than the one before, and the other way
      attempts++;
      freeing = 10 + 5 * (attempts % 7);
    }
    if (freeing > 0) {
      freeing--;
      speed = attempts % 2 ? -0.2 : 0.2;
      turnrate = (attempts % 3 - 1) * dtor(30);
    }
    stalls += pp.GetStall();
    way += hypot(pp.GetXPos() - x, pp.GetYPos() - y);
    x = pp.GetXPos();
    y = pp.GetYPos();
    yaw = pp.GetYaw();

    // command the motors
    pp.SetSpeed(speed, turnrate);
  }
};

int main(int argc, char *argv[]) {
  int rounds = argc > 3 ? atoi(argv[3]) : 600, robots = argc > 4 ? atoi(argv[4]) : 1, stalls = 0;
  double least = 1e9;
  std::vector<Member *> swarm;
  for (int i = 0; i < robots; i++) swarm.push_back(new Member(argv[1], atoi(argv[2]) + i));
  for (int t = 0; t < rounds; t++)
    for (int i = 0; i < robots; i++) swarm[i]->Step();
  for (int i = 0; i < robots; i++) {
    least = min(least, swarm[i]->way);
    stalls += swarm[i]->stalls;
  }
  std::cout << "way " << least << std::endl << "stalls " << stalls << std::endl;
  std::cout << "odometry " << swarm[0]->x << " " << swarm[0]->y << " " << swarm[0]->yaw << std::endl;
  return 0;
}
