// Reads in a thread, and by functions that are called with new data.
#include <libplayerc++/playerc++.h>
#include <unistd.h>
#include <iostream>
using namespace PlayerCc;

static int calls = 0;
static void count() { calls++; }

struct Behaviour {
  PlayerClient *client;
  int n;
  void operator()() {
    if (++n == 10) client->Stop();
  }
};

int main(int, char **argv) {
  PlayerClient client(argv[1], atoi(argv[2]));
  Position2dProxy pos(&client, 0);
  ClientProxy::connection_t connection = pos.ConnectReadSignal(&count);
  client.StartThread();
  while (!pos.IsFresh()) usleep(1000);
  pos.NotFresh();
  while (!pos.IsFresh()) {
    pos.SetSpeed(0.1, 0);
    usleep(1000);
  }
  client.StopThread();
  std::cout << "thread " << (calls >= 2) << " " << (pos.GetElapsedTime() > 0) << std::endl;
  pos.DisconnectReadSignal(connection);
  calls = 0;
  Behaviour behaviour = {&client, 0};
  pos.ConnectReadSignal(behaviour);
  client.Run(1);
  std::cout << "run " << calls << std::endl;
  while (!client.Peek(10)) {
  }
  double before = pos.GetDataTime();
  client.ReadIfWaiting();
  std::cout << "peek " << (pos.GetDataTime() > before) << std::endl;
  return 0;
}
