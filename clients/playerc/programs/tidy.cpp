// Two robots tidy up: each looks for orange junk with its camera, drives to it around what its four corner sensors
// feel, closes the gripper when the beam in front of it is broken, carries the junk home and leaves it there. A crate
// is no junk: its colour is another one.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

static const double home = -2;      // m: things west of it have been tidied up
static const double lower = 1 / 3.0; // the camera is so much nearer to the floor than a Pioneer's

struct Sweeper {
  PlayerClient client;
  Position2dProxy pos;
  RangerProxy corners, feeler, scanner;
  BlobfinderProxy eye;
  GripperProxy hand;
  enum { SEARCH, FETCH, GRIP, CARRY, RELEASE, LEAVE } state;
  int patience, carried;
  double lane;

  Sweeper(const char *host, int port, double y)
      : client(host, port), pos(&client, 0), corners(&client, 0), feeler(&client, 1), scanner(&client, 2), eye(&client, 0), hand(&client, 0), state(SEARCH), patience(0), carried(0),
        lane(y) {
    pos.SetMotorEnable(true);
    hand.Open();
  }

  // Returns the nearest junk that is not at home, or a blob of area 0.
  playerc_blobfinder_blob_t junk() {
    playerc_blobfinder_blob_t best = playerc_blobfinder_blob_t();
    for (uint i = 0; i < eye.GetCount(); i++) {
      playerc_blobfinder_blob_t b = eye[i];
      double way = pos.GetYaw() + bearing(b);
      if (b.id != 0 || pos.GetXPos() + (b.range * lower + 0.2) * cos(way) < home + 0.3) continue;
      if (b.area > best.area) best = b;
    }
    return best;
  }
  double bearing(const playerc_blobfinder_blob_t &b) { return dtor(24.4) * (eye.GetWidth() / 2.0 - b.x) / (eye.GetWidth() / 2.0); }

  // Drives in a direction, but around what the corners feel, unless it is wanted.
  void drive(double speed, double turn, bool careful) {
    double left = min(corners[0], corners[1]), right = min(corners[2], corners[3]);
    if (careful && min(left, right) < 0.5) {
      turn = left < right ? -0.6 : 0.6;
      if (min(corners[1], corners[2]) < 0.35) speed = 0;
    }
    pos.SetSpeed(speed, limit(turn, -0.8, 0.8));
  }

  void step() {
    client.Read();
    playerc_blobfinder_blob_t b = junk();
    switch (state) {
    case SEARCH:
      if (b.area > 0) state = FETCH;
      else if (++patience % 120 < 70) pos.SetSpeed(0, 0.6);
      else drive(0.3, 0, true);
      break;
    case FETCH:
      if (feeler[90] < 0.05) {
        state = GRIP, patience = 0;
        pos.SetSpeed(0, 0);
        hand.Close();
      } else if (b.area == 0) {
        if (++patience > 10) state = SEARCH;
        pos.SetSpeed(0.05, 0);
      } else {
        patience = 0;
        double turn = 1.5 * bearing(b);
        double range = b.range * lower;
        drive(fabs(turn) > 0.3 ? 0.05 : range > 0.7 ? 0.3 : 0.1, turn, range > 0.6);
      }
      break;
    case GRIP:
      if (++patience < 15) break;
      state = hand.GetState() == PLAYER_GRIPPER_STATE_CLOSED && hand.GetBeams() ? CARRY : SEARCH;
      if (state == SEARCH) hand.Open();
      break;
    case CARRY: {
      double x = home - 0.5 - pos.GetXPos(), y = lane - pos.GetYPos();
      double turn = normalize(atan2(y, x) - pos.GetYaw());
      if (pos.GetXPos() < home - 0.4) {
        state = RELEASE, patience = 0, carried++;
        pos.SetSpeed(0, 0);
        hand.Open();
      } else {
        drive(fabs(turn) > 0.5 ? 0 : 0.3, 1.5 * turn, pos.GetXPos() > home + 0.3 && fabs(turn) < 0.5);
      }
      break;
    }
    case RELEASE:
      if (++patience > 15) state = LEAVE;
      break;
    case LEAVE: // backward, and about
      pos.SetSpeed(pos.GetXPos() < home + 0.4 ? -0.3 : 0, 0);
      if (pos.GetXPos() > home + 0.4) {
        double turn = normalize(-pos.GetYaw());
        pos.SetSpeed(0, 1.5 * turn);
        if (fabs(turn) < 0.3) state = SEARCH, patience = 0;
      }
      break;
    }
  }
};

int main(int, char **argv) {
  Sweeper one(argv[1], atoi(argv[2]), 1), other(argv[1], atoi(argv[2]) + 1, -1);
  int rounds = 0, stalls = 0;
  for (; rounds < 6000 && one.carried + other.carried < 4; rounds++) {
    one.step();
    other.step();
    stalls += one.pos.GetStall() + other.pos.GetStall();
  }
  for (int i = 0; i < 20; i++) {
    one.pos.SetSpeed(0, 0);
    other.pos.SetSpeed(0, 0);
    one.client.Read();
    other.client.Read();
  }
  cout << "counts " << one.corners.GetRangeCount() << " " << one.feeler.GetRangeCount() << " " << one.scanner.GetRangeCount() << endl;
  cout << "carried " << one.carried << " " << other.carried << endl << "rounds " << rounds << endl << "stalls " << stalls << endl;
  return 0;
}
