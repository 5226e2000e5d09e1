// Steers as a car and by headings, and asks the client about itself.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  robot.SetRequestTimeout(20);
  robot.SetRetryLimit(3);
  robot.SetRetryTime(0.5);
  robot.RequestDeviceList();
  Position2dProxy pp(&robot, 0);
  SimulationProxy sim(&robot, 0);
  PowerProxy power(&robot, 0);
  double x, y, z, roll, pitch, yaw, time;

  cout << "client " << robot.GetRetryLimit() << " " << robot.GetRetryTime() << " " << (robot.GetHostname() == argv[1]) << " " << (pp.GetClient() == &robot) << " "
       << pp.GetDriverName().empty() << endl;
  for (int i = 0; i < 50; i++) {
    pp.SetCarlike(0.2, 0.3); // m/s, rad
    robot.Read();
  }
  cout << "curve " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << " " << pp.Fresh() << endl;
  pp.SetSpeed(0, 0);
  for (int i = 0; i < 10; i++) robot.Read();
  sim.GetPose3d((char *)"r0", x, y, z, roll, pitch, yaw, time);
  cout << "carlike " << x << " " << y << " " << z << " " << roll << " " << pitch << " " << yaw << " " << (time > 5) << endl;
  cout << "driven " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << endl;
  for (int i = 0; i < 60; i++) {
    pp.SetVelHead(0, -M_PI / 2);
    robot.Read();
  }
  cout << "head " << pp.GetYaw() << endl;
  sim.SetPose3d((char *)"r0", -1, 2, 0, 0, 0, 0.5);
  robot.Read();
  sim.GetPose2d((char *)"r0", x, y, yaw);
  cout << "set " << x << " " << y << " " << yaw << endl;
  float colour[4];
  try {
    sim.GetProperty((char *)"r0", (char *)"color", colour, sizeof colour);
  } catch (PlayerError e) {
    cout << "property " << e << endl;
  }
  power.SetChargingPolicy(true, true);
  cout << "watts " << power.GetJoules() << " " << power.GetWatts() << " " << power.GetCharging() << endl;
  return 0;
}
