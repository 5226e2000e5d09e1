// Goes on when its server is gone, though it tries to connect again for ever: only the thread
// that reads waits.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <unistd.h>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy *wheels = new Position2dProxy(&robot);
  SonarProxy *sonar = new SonarProxy(&robot);
  robot.SetRetryLimit(-1);
  robot.SetRetryTime(1000); // s
  robot.StartThread();
  while (!wheels->IsValid()) usleep(1000);
  cout << "drives" << endl;
  wheels->GoTo(1, 0, 0); // a thread of the library reads as well, when the program does not
  cout << "end" << endl;
  cin.get(); // the server ends meanwhile
  while (robot.Connected()) usleep(1000);
  cout << "odometry " << wheels->GetXPos() << endl;
  try {
    wheels->SetSpeed(0, 0);
  } catch (PlayerError &e) {
    cout << "speed " << e.GetErrorStr() << endl;
  }
  delete wheels;
  delete sonar;
  robot.StopThread();
  cout << "stopped" << endl;
  return 0;
}
