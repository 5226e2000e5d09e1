// Has clients with other settings: bumpers of a Pioneer, of a Create and two, and lasers as constants of other
// simulators have them.
#include <libplayerc++/playerc++.h>
#include <stdlib.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

struct Robot {
  PlayerClient client;
  BumperProxy bumpers;
  LaserProxy laser;
  RangerProxy ranger;
  BlobfinderProxy blobs;
  Robot(char **argv, const char *setting, const char *value, int ranger_index = 0)
      : client(argv[1], (setenv(setting, value, 1), atoi(argv[2]))), bumpers(&client, 0), laser(&client, 0), ranger(&client, ranger_index), blobs(&client, 0) {}
};

int main(int, char **argv) {
  Robot two(argv, "PLAYERC_BUMPERS", "two");
  Robot create(argv, "PLAYERC_BUMPERS", "create");
  Robot wide(argv, "PLAYERC_LASER", "666,240", 1);
  setenv("PLAYERC_RANGERS", "laser,sonar", 1);
  setenv("PLAYERC_BLOBFINDER", "80x60", 1);
  setenv("PLAYERC_LASER", "180,180", 1);
  Robot all(argv, "PLAYERC_BUMPERS", "all");
  Robot *robots[] = {&two, &create, &wide, &all};
  Position2dProxy pp(&two.client, 0);
  SonarProxy sp(&two.client, 0);
  SimulationProxy sim(&two.client, 0);
  LaserProxy &lp = all.laser, &wl = wide.laser;
  create.bumpers.RequestBumperConfig();
  lp.Configure(lp.GetMinAngle(), lp.GetMaxAngle(), 1, 1, false, 10);
  wide.ranger.Configure(-1, 1, 0.01, 0, 8, 0.001, 10);
  wide.ranger.SetPower(true);
  wide.ranger.SetIntensityData(false);
  for (int i = 0; i < 4; i++) robots[i]->client.Read();
  cout << "scan " << lp.GetCount() << " " << lp[0] << " " << lp[lp.GetCount() / 2] << " " << lp[lp.GetCount() - 1] << " " << lp.GetBearing(0) << endl;
  cout << "ranger " << all.ranger.GetRangeCount() << " " << two.ranger.GetRangeCount() << endl;
  cout << "image " << all.blobs.GetWidth() << " " << all.blobs.GetHeight() << " " << all.blobs.GetCount() << endl;
  cout << "blob0 " << all.blobs[0].x << endl;
  cout << "wide " << wl.GetCount() << " " << wl[458] * sin(wl.GetBearing(458)) << " " << wl.GetBearing(0) << " " << wl.GetBearing(665) << endl;
  cout << "outside " << (wl[0] == wl.GetMaxRange()) << " " << (wl[80] == wl.GetMaxRange()) << " " << (wl[665] == wl.GetMaxRange()) << " "
       << (wl[90] < wl.GetMaxRange()) << endl;

  for (int bump = 0; bump < 2; bump++) { // with its front, and with its left side
    if (bump) sim.SetPose2d((char *)"r0", 0, 2.3, dtor(45));
    for (int i = 0; i < 300; i++) {
      pp.SetSpeed(bump ? 0.2 : 0.3, 0);
      for (int n = 0; n < 4; n++) robots[n]->client.Read();
      if (two.bumpers.IsAnyBumped() && i > 2) break;
    }
    cout << "two" << bump << " " << two.bumpers.GetCount() << " " << two.bumpers[0] << " " << two.bumpers[1] << " " << two.bumpers.IsAnyBumped() << " " << pp.GetXPos()
         << endl;
    cout << "create" << bump << " " << create.bumpers.GetCount() << " " << create.bumpers[0] << " " << create.bumpers[1] << endl;
    cout << "all" << bump << " " << all.bumpers.GetCount();
    for (int i = 0; i < 10; i++) cout << " " << all.bumpers.IsBumped(i);
    cout << endl;
    for (int i = 0; i < 20; i++) {
      pp.SetSpeed(-0.2, 0);
      for (int n = 0; n < 4; n++) robots[n]->client.Read();
    }
    pp.SetSpeed(0, 0);
    cout << "free" << bump << " " << two.bumpers[0] << " " << two.bumpers[1] << endl;
  }

  sim.SetPose2d("r0", -100, -100, 0);
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < 4; n++) robots[n]->client.Read();
  int echoes = 0;
  for (uint i = 0; i < wl.GetCount(); i++) echoes += wl[i] != wl.GetMaxRange();
  for (uint i = 0; i < wide.ranger.GetRangeCount(); i++) echoes += wide.ranger[i] != wide.ranger.GetMaxRange();
  for (uint i = 0; i < sp.GetCount(); i++) echoes += sp[i] != 5;
  cout << "far " << wl.GetCount() << " " << wide.ranger.GetRangeCount() << " " << sp.GetCount() << " " << echoes << " " << wl.MinLeft() << " "
       << wide.blobs.GetCount() << endl;
  return 0;
}
