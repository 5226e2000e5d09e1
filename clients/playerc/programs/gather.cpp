// Collects pucks: looks for green, fetches it with the gripper, carries it elsewhere, and
// looks for the next one. It is given for how many Reads.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  GripperProxy gp(&robot, 0);
  BlobfinderProxy bp(&robot, 0);
  PtzProxy ptz(&robot, 0);
  SonarProxy sp(&robot, 0);
  enum { LOOK, GO, REACH, GRAB, TURN, CARRY, DROP, LEAVE } state = LOOK;
  int rounds = argc > 3 ? atoi(argv[3]) : 600, since = 0, delivered = 0, stalls = 0;
  double way = 0, x = 0, y = 0;

  ptz.SetCam(0, dtor(-20), 0);
  gp.Open();
  for (int i = 0; i < rounds; i++, since++) {
    robot.Read();
    double speed = 0, turn = 0, ahead = min(min(sp[2], sp[3]), min(sp[4], sp[5]));
    int aside = 0, low = 0;
    bool seen = false;
    for (uint n = 0; n < bp.GetCount(); n++) {
      playerc_blobfinder_blob_t b = bp[n];
      if (b.color != 0x00ff00 || (int)b.bottom < low) continue;
      seen = true;
      aside = (int)bp.GetWidth() / 2 - (int)b.x;
      low = (int)b.bottom; // the nearest one
    }
    int before = state;
    switch (state) {
    case LOOK: // around, and then elsewhere
      if (seen) state = GO;
      else if (since < 250) turn = dtor(20);
      else if (since < 320 && ahead > 0.7) speed = 0.3;
      else since = 0;
      break;
    case GO:
      turn = limit(0.01 * aside, -0.5, 0.5);
      speed = abs(aside) < 30 ? 0.15 : 0;
      if (!seen) state = LOOK;
      if (low > (int)bp.GetHeight() - 12 && abs(aside) < 12) state = REACH;
      if (ahead < 0.35) state = LEAVE; // it is at a wall
      break;
    case REACH: // it is below the image
      speed = 0.1;
      if (gp.GetBeams() & 2) state = GRAB;
      else if (since > 80 || ahead < 0.3) state = LEAVE;
      break;
    case GRAB:
      if (since == 0) gp.Close();
      if (since > 25) state = gp.GetState() == PLAYER_GRIPPER_STATE_CLOSED && gp.GetBeams() ? TURN : DROP;
      break;
    case TURN:
      turn = dtor(45);
      if (since > 40 && ahead > 1.2) state = CARRY;
      if (since > 200) state = DROP;
      break;
    case CARRY:
      speed = 0.25;
      if (since > 40 || ahead < 0.8) {
        delivered++;
        state = DROP;
      }
      break;
    case DROP:
      if (since == 0) gp.Open();
      if (since > 20) state = LEAVE;
      break;
    case LEAVE: // backwards, and about
      if (since < 20) speed = -0.2;
      else turn = dtor(45);
      if (since > 60) state = LOOK;
      break;
    }
    if (state != before) since = -1;
    stalls += pp.GetStall();
    way += hypot(pp.GetXPos() - x, pp.GetYPos() - y);
    x = pp.GetXPos();
    y = pp.GetYPos();
    pp.SetSpeed(speed, turn);
  }
  cout << "delivered " << delivered << " " << stalls << " " << way << endl;
  return 0;
}
