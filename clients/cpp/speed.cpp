// Reads many robots, one thread each, for the benchmarks (docs/CLIENTS.md).
#include "playerclient.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

constexpr unsigned short RATE = 50;  // Hz

static std::atomic<bool> stop{false};

struct Reader {
  CRobot robot;
  std::vector<long long> intervals{};  // us
  std::thread thread{};

  void Run(Clock::time_point begin, Clock::time_point end) {
    Clock::time_point last{};
    while (!stop) {
      if (robot.Read()) {
        std::fprintf(stderr, "port %d: %s\n", robot.port, robot.Error());
        std::exit(1);
      }
      auto now = Clock::now();
      if (now >= begin && now < end && last != Clock::time_point{})
        intervals.push_back(std::chrono::duration_cast<std::chrono::microseconds>(now - last).count());
      last = now;
    }
  }
};

static Clock::duration Seconds(const char *text) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::atof(text)));
}

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: speed HOST PORT COUNT WARMUP SECONDS\n");
    return 2;
  }
  int port = std::atoi(argv[2]), count = std::atoi(argv[3]);
  std::deque<Reader> readers(static_cast<std::size_t>(count));
  for (Reader &reader : readers) {
    CRobot &robot = reader.robot;
    robot.timeout = std::chrono::seconds(10);
    if (robot.Connect(argv[1], port++) || robot.SetFrequency(RATE) || robot.Request("lrsrprgrmrvrzr")) {
      std::fprintf(stderr, "port %d: %s\n", robot.port, robot.Error());
      return 1;
    }
  }
  auto begin = Clock::now() + Seconds(argv[4]), end = begin + Seconds(argv[5]);
  for (Reader &reader : readers) reader.thread = std::thread(&Reader::Run, &reader, begin, end);
  std::this_thread::sleep_until(begin);
  std::cout << "begin" << std::endl;
  std::this_thread::sleep_until(end);
  std::cout << "end" << std::endl;
  while (std::cin.get() != EOF) continue;
  stop = true;
  std::vector<long long> all;
  for (Reader &reader : readers) {
    reader.thread.join();
    all.insert(all.end(), reader.intervals.begin(), reader.intervals.end());
  }
  std::sort(all.begin(), all.end());
  const size_t n = all.size();
  if (all.empty()) all.push_back(0);
  std::cout << "{\"runtime\":\"c++ " << __VERSION__ << "\",\"frames\":" << n << ",\"p50_us\":" << all[n / 2]
            << ",\"p99_us\":" << all[n * 99 / 100] << ",\"max_us\":" << all.back() << "}" << std::endl;
}
