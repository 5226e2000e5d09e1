// Follows blobs: drives to the red thing, then to the yellow one, the blue one, and to the
// red one again, with the laser to keep off what is in the way. It is given for how many
// Reads.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  BlobfinderProxy bp(&robot, 0);
  LaserProxy lp(&robot, 0);
  const uint32_t colours[] = {0xff0000, 0xffff00, 0x0000ff};
  int rounds = argc > 3 ? atoi(argv[3]) : 600, visited = 0, stalls = 0, detour = 0, side = 1, lost = 0;
  double most = 0, room = 0;

  for (int i = 0; i < rounds; i++) {
    robot.Read();
    double speed = 0, turn = dtor(20), ahead = 9, left = 9, right = 9, open = 0, furthest = 0;
    for (uint n = 0; n < lp.GetCount(); n++) {
      double bearing = lp.GetBearing(n), range = lp[n];
      if (range > furthest) {
        furthest = range;
        open = bearing;
      }
      if (fabs(bearing) < dtor(25)) ahead = min(ahead, range);
      else if (bearing > 0 && bearing < dtor(75)) left = min(left, range);
      else if (bearing > dtor(-75)) right = min(right, range);
    }
    bool seen = false;
    for (uint n = 0; n < bp.GetCount() && !seen; n++) {
      playerc_blobfinder_blob_t b = bp.GetBlob(n);
      if (b.color != colours[visited % 3]) continue;
      seen = true;
      turn = limit(((int)bp.GetWidth() / 2 - (int)b.x) * 0.01, -0.5, 0.5);
      speed = limit(ahead - 0.4, 0.0, 0.3);
      if (ahead < 0.7 && b.right - b.left > bp.GetWidth() / 10) {
        visited++;
        detour = 50;
      }
    }
    lost = seen ? 0 : lost + 1;
    if (lost < 2) most = 0;
    if (lost <= 200 && furthest > most) {
      most = furthest;
      room = pp.GetYaw() + open;
    }
    if (lost > 200) { // nowhere around: to where there is room
      double wrong = normalize(room - pp.GetYaw());
      speed = fabs(wrong) < 0.3 ? 0.25 : 0;
      turn = limit(wrong, -0.5, 0.5);
      if (lost > 350) lost = 0;
    }
    bool blocked = speed > 0 && (ahead < 0.5 || min(left, right) < 0.3);
    if (blocked && detour == 0) side = left > right ? 1 : -1;
    if (blocked && detour <= 30) detour = 50;
    if (detour > 0) { // away from it, and then past it
      detour--;
      speed = detour >= 30 || ahead < 0.5 ? 0 : 0.2;
      turn = detour >= 30 || ahead < 0.5 ? 0.6 * side : 0;
    }
    stalls += pp.GetStall();
    pp.SetSpeed(speed, turn);
  }
  cout << "visited " << visited << " " << stalls << endl;
  return 0;
}
