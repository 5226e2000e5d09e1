/* Wanders with the sonars for a minute, or so many Reads, with the loop of the tutorials. */
#include <iostream>
#include <libplayerc++/playerc++.h>

int main(int argc, char *argv[]) {
  using namespace PlayerCc;

  PlayerClient robot(argv[1], atoi(argv[2]));
  SonarProxy sp(&robot, 0);
  Position2dProxy pp(&robot, 0);
  int bumps = 0;
  double way = 0, x = 0, y = 0;

  pp.SetMotorEnable(true);
  for (int i = 0, n = argc > 3 ? atoi(argv[3]) : 600; i < n; i++) {
    double turnrate, speed;

    // read from the proxies
    robot.Read();

    double ahead = min(min(sp[2], sp[3]), min(sp[4], sp[5]));
    if (ahead < 0.6) {
      speed = 0;
      turnrate = (sp[0] + sp[1] < sp[6] + sp[7]) ? dtor(-30) : dtor(30);
    } else {
      speed = limit(ahead - 0.5, 0.05, 0.4);
      turnrate = 0;
    }
    if (pp.GetStall()) bumps++;
    way += hypot(pp.GetXPos() - x, pp.GetYPos() - y);
    x = pp.GetXPos();
    y = pp.GetYPos();

    // command the motors
    pp.SetSpeed(speed, turnrate);
  }
  std::cout << "way " << way << std::endl << "bumps " << bumps << std::endl << "odometry " << x << " " << y << " " << pp.GetYaw() << std::endl;
  return 0;
}
