// One program for several robots: a client for each, one client for the robots of an index, and two of one robot.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

struct Member {
  PlayerClient client;
  Position2dProxy pos;
  LaserProxy laser;
  Member(const char *host, int port) : client(host, port), pos(&client, 0), laser(&client, 0) {}
};

int main(int, char **argv) {
  Member one(argv[1], atoi(argv[2])), other(argv[1], atoi(argv[2]) + 1);
  PlayerClient indexed(argv[1], atoi(argv[2]));
  Position2dProxy first(&indexed, 0), second(&indexed, 1), small(&indexed, 2);
  SonarProxy sonar(&indexed, 1);
  small.RequestGeom();
  for (int i = 0; i < 30; i++) {
    one.client.Read();
    one.pos.SetSpeed(0.1, 0);
    other.client.Read();
    indexed.Read();
    second.SetSpeed(0.2, 0);
  }
  cout << "one " << one.pos.GetXPos() << " " << one.laser.GetCount() << " " << first.GetXPos() << endl;
  cout << "other " << other.pos.GetXPos() << " " << other.laser.GetCount() << " " << second.GetXPos() << " " << sonar.GetCount() << endl;
  cout << "small " << small.GetSize().sl << " " << small.GetSize().sw << " " << small.GetOffset().px << endl;
  return 0;
}
