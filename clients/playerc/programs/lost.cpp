// Does not read while it drives, sleeps while it turns to a heading, and goes on when its server is gone: one client
// waits with the next attempt, and only the thread that reads waits; the other one connects again by itself.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <unistd.h>
using namespace PlayerCc;
using namespace std;

int main(int, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2])), other(argv[1], atoi(argv[2]) + 1);
  Position2dProxy *wheels = new Position2dProxy(&robot), others(&other, 0);
  RangerProxy scan(&other, 1), ring(&other, 0); // devices that the server names
  SonarProxy *sonar = new SonarProxy(&robot);
  SimulationProxy sim(&robot, 0);
  robot.Read();
  wheels->SetSpeed(0.3, 0);
  usleep(1500000);
  wheels->SetSpeed(0, 0);
  double x = 0, last, y, a;
  do { // until it stands
    last = x;
    usleep(300000);
    sim.GetPose2d((char *)"r0", x, y, a);
  } while (x != last);
  robot.Read(); // the data is not old
  cout << "late " << wheels->GetXPos() - x << " " << wheels->GetXSpeed() << endl;

  other.Read();
  others.GoTo(0, 0, 0.6);
  for (int i = 0; i < 200 && fabs(others.GetYaw() - 0.6) > 0.03; i++) usleep(50000);
  cout << "there " << others.GetYaw() << endl;

  robot.SetRetryLimit(-1);
  robot.SetRetryTime(1000); // s
  robot.StartThread();
  other.SetRetryLimit(-1);
  other.SetRetryTime(0.05);
  wheels->GoTo(1, 0, 0); // a thread of the library reads as well, when the program does not
  for (int i = 0; i < 2; i++) other.Read();
  others.GoTo(0, 0, -0.6);
  cout << "end" << endl; // of the server
  while (robot.Connected() || other.Connected()) usleep(1000);
  double before = scan[180];
  cout << "odometry " << wheels->GetXPos() << endl;
  try {
    wheels->SetSpeed(0, 0);
  } catch (PlayerError &e) {
    cout << "speed " << e.GetErrorStr() << endl;
  }
  delete wheels;
  delete sonar;
  robot.StopThread();
  cout << "stopped" << endl << "lost" << endl;
  cin.get(); // the server is there again
  for (int i = 0; i < 400 && !other.Connected(); i++) usleep(50000);
  cout << "connected " << other.Connected() << endl;
  scan.NotFresh();
  ring.NotFresh();
  cout << "kept " << scan.GetRangeCount() << " " << (scan[180] > 0) << " " << (before > 0) << endl;
  for (int i = 0; i < 5; i++) other.Read();
  cout << "again " << scan.IsFresh() << " " << ring.IsFresh() << " " << (scan[180] > 0 && scan[180] < scan.GetMaxRange()) << endl;
  return 0;
}
