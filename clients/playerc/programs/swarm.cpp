// One program drives two robots, each with a client of its own, in turn.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

struct Member {
  PlayerClient *client;
  Position2dProxy *pos;
  LaserProxy *laser;
};

int main(int argc, char **argv) {
  Member members[2];
  for (int i = 0; i < 2; i++) {
    members[i].client = new PlayerClient(argv[1], atoi(argv[2]) + i);
    members[i].pos = new Position2dProxy(members[i].client, 0);
    members[i].laser = new LaserProxy(members[i].client, 0);
  }
  for (int t = 0; t < 30; t++)
    for (int i = 0; i < 2; i++) {
      members[i].client->Read();
      members[i].pos->SetSpeed(i == 0 ? 0.1 : 0.2, 0.0);
    }
  for (int i = 0; i < 2; i++) cout << "member" << i << " " << members[i].pos->GetXPos() << " " << members[i].laser->GetCount() << endl;
  return 0;
}
