// Drives in every way that the wheels have: by speeds, like a car, to headings, and to poses.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

static void rounds(PlayerClient &robot, int n) {
  while (n-- > 0) robot.Read();
}

static void pose(const char *name, const Position2dProxy &pp) {
  cout << name << " " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << " " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << endl;
}

// A closed loop that ends with a slow turn.
static void turn_to(PlayerClient &client, Position2dProxy &pp, double goal) {
  double error;
  do {
    client.Read();
    error = normalize(goal - pp.GetYaw());
    pp.SetSpeed(0, fabs(error) > 0.2 ? (error > 0 ? 0.5 : -0.5) : (error > 0 ? 0.01 : -0.01));
  } while (fabs(error) > 0.01);
  pp.SetSpeed(0, 0);
  client.Read();
}

int main(int, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  SimulationProxy sim(&robot, 0);
  double x, y, z, roll, pitch, yaw, time, from_x, from_y;
  pp.SetMotorEnable(1);
  for (int i = 0; i < 30; i++) {
    pp.SetSpeed(0.2, 0);
    robot.Read();
  }
  pose("ahead", pp);
  for (int i = 0; i < 20; i++) {
    pp.SetCarlike(0.2, 0.3); // m/s, rad
    robot.Read();
  }
  cout << "curve " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << " " << pp.Fresh() << endl;
  pp.SetSpeed(0, 0, 0);
  rounds(robot, 10);
  pose("stands", pp);
  for (int i = 0; i < 60; i++) {
    pp.SetVelHead(0, -M_PI / 2);
    robot.Read();
  }
  pose("head", pp);
  sim.GetPose3d((char *)"r0", x, y, z, roll, pitch, yaw, time);
  cout << "pose3d " << x << " " << y << " " << z << " " << roll << " " << pitch << " " << yaw << " " << (time > 5) << endl;
  pose("car", pp);
  for (int i = 1; i <= 3; i++) {
    turn_to(robot, pp, normalize(-M_PI / 2 - i * M_PI / 2));
    cout << "turn" << i << " " << pp.GetYaw() << endl;
  }
  turn_to(robot, pp, -M_PI / 2);

  sim.GetPose2d("r0", from_x, from_y, yaw);
  pp.SetOdometry(2, 3, M_PI / 2);
  pose("set", pp);
  player_pose2d_t ahead = {0.2, 0, 0}, there = {2.8, 3.2, M_PI}, speed = {0.2, 0, 0.5};
  for (int i = 0; i < 30; i++) {
    pp.SetSpeed(ahead);
    robot.Read();
  }
  pp.SetSpeed(0, 0);
  rounds(robot, 10);
  pose("driven", pp);
  sim.GetPose2d("r0", x, y, yaw);
  cout << "way " << hypot(x - from_x, y - from_y) << endl;
  double fastest = 0;
  pp.GoTo(there, speed);
  for (int i = 0; i < 300; i++) {
    robot.Read();
    fastest = max(fastest, pp.GetXSpeed());
  }
  pose("there", pp);
  cout << "fastest " << fastest << endl;
  sim.GetPose2d("r0", x, y, yaw);
  cout << "truth " << x << " " << y << " " << yaw << endl;
  pp.ResetOdometry();
  rounds(robot, 5);
  pose("reset", pp);
  pp.GoTo(0.5, 0.5, M_PI / 2);
  rounds(robot, 150);
  pose("back", pp);
  pp.GoTo(2, 0, 0);
  rounds(robot, 10);
  pp.SetSpeed(0, 0); // ends it
  rounds(robot, 30);
  cout << "ended " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << endl;
  double before = pp.GetYaw();
  for (int i = 0; i < 100; i++) {
    pp.SetSpeed(0, 0.001);
    robot.Read();
  }
  cout << "slow " << fabs(normalize(pp.GetYaw() - before)) << endl;
  return 0;
}
