// A swarm: one program with a client for each robot, which keep apart. It is given for how
// many Reads, and how many robots.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <vector>
using namespace PlayerCc;
using namespace std;

class Member {
  PlayerClient client;
  Position2dProxy pos;
  SonarProxy sonar;
  double x, y;
  int turning, freeing, attempts;

public:
  double way;
  int stalls;

  Member(const char *host, int port) : client(host, port), pos(&client, 0), sonar(&client, 0), x(0), y(0), turning(0), freeing(0), attempts(0), way(0), stalls(0) {}
  void Step() {
    client.Read();
    double left = min(sonar[1], sonar[2]), front = min(sonar[3], sonar[4]), right = min(sonar[5], sonar[6]);
    if (turning == 0 && (front < 0.9 || min(left, right) < 0.6)) turning = left > right ? 1 : -1;
    if (front > 1.2 && min(left, right) > 0.7) turning = 0;
    if (pos.GetStall() && freeing == 0) { // each attempt is longer than the one before, and the other way
      attempts++;
      freeing = 10 + 5 * (attempts % 7);
    }
    if (freeing > 0) {
      freeing--;
      pos.SetSpeed(attempts % 2 ? -0.2 : 0.2, (attempts % 3 - 1) * dtor(30));
    } else {
      pos.SetSpeed(turning ? 0 : 0.3, turning * dtor(40));
    }
    stalls += pos.GetStall();
    way += hypot(pos.GetXPos() - x, pos.GetYPos() - y);
    x = pos.GetXPos();
    y = pos.GetYPos();
  }
};

int main(int argc, char **argv) {
  int rounds = argc > 3 ? atoi(argv[3]) : 100, robots = argc > 4 ? atoi(argv[4]) : 2, stalls = 0;
  vector<Member *> swarm;
  for (int i = 0; i < robots; i++) swarm.push_back(new Member(argv[1], atoi(argv[2]) + i));
  for (int t = 0; t < rounds; t++)
    for (int i = 0; i < robots; i++) swarm[i]->Step();
  double least = 1e9, all = 0;
  for (int i = 0; i < robots; i++) {
    least = min(least, swarm[i]->way);
    all += swarm[i]->way;
    stalls += swarm[i]->stalls;
    delete swarm[i];
  }
  cout << "flock " << robots << " " << least << " " << all << " " << stalls << endl;
  return 0;
}
