// Follows the wall on the right with the laser.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <cmath>
using namespace PlayerCc;
using namespace std;

const double distance_to_wall = 0.6;

static double sector(LaserProxy &laser, double from, double to) {
  double shortest = laser.GetMaxRange();
  for (uint i = 0; i < laser.GetCount(); i++)
    if (laser.GetBearing(i) >= dtor(from) && laser.GetBearing(i) <= dtor(to) && laser.GetRange(i) < shortest) shortest = laser.GetRange(i);
  return shortest;
}

int main(int argc, char **argv) {
  try {
    PlayerClient client(argv[1], atoi(argv[2]));
    LaserProxy laser(&client, 0);
    Position2dProxy position(&client, 0);
    double sum = 0, worst = 9;
    int n = 0;
    for (int i = 0, rounds = argc > 3 ? atoi(argv[3]) : 900; i < rounds; i++) {
      client.Read();
      double right = sector(laser, -90, -50), front = sector(laser, -25, 25);
      if (i > 300) {
        sum += right;
        worst = min(worst, min(right, front));
        n++;
      }
      if (front < 0.9)
        position.SetSpeed(0, dtor(25));
      else
        position.SetSpeed(0.25, limit(1.2 * (distance_to_wall - right), dtor(-25), dtor(25)));
    }
    cout << "mean " << sum / n << endl << "nearest " << worst << endl;
  } catch (PlayerError &e) {
    cerr << e << endl;
    return -1;
  }
  return 0;
}
