#include "compute.h"

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kWorkers = 3, kPasses = 16, kDimensions = 4, kAccessesPerPoint = 2 * kPasses * 5 * kDimensions;

// A barrier as programs write them that have to run without pthread_barrier_t.
class Barrier {
 public:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    unsigned long mine = generation_;
    if (++arrived_ == kWorkers) {
      generation_++;
      all_arrived_.notify_all();
#ifdef SEEDED
      lock.unlock();
#endif
      arrived_ = 0;
      return;
    }
    while (generation_ == mine) all_arrived_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_arrived_;
  int arrived_ = 0;
  unsigned long generation_ = 0;
};

struct Point {
  int at[kDimensions];
  int centre;
  long cost; // distance from its centre
};

long Distance(const Point &a, const Point &b) {
  long sum = 0;
  for (int d = 0; d < kDimensions; d++) sum += long(a.at[d] - b.at[d]) * (a.at[d] - b.at[d]);
  return sum;
}

// Gain is what points [from, to) would gain by a centre at the candidate.
long Gain(const std::vector<Point> &points, size_t from, size_t to, int candidate) {
  long gain = 0;
  for (size_t i = from; i < to; i++) {
    long d = Distance(points[i], points[size_t(candidate)]);
    if (d < points[i].cost) gain += points[i].cost - d;
  }
  return gain;
}

void Open(std::vector<Point> &points, size_t from, size_t to, int candidate) {
  for (size_t i = from; i < to; i++) {
    long d = Distance(points[i], points[size_t(candidate)]);
    if (d < points[i].cost) points[i].cost = d, points[i].centre = candidate;
  }
}

// Candidate is the point that pass `pass` tries as a centre.
int Candidate(int pass, size_t count) { return int((size_t(pass) * 7 + 3) % count); }

bool Worth(long gain, size_t count) { return gain > long(count) * 40; }

std::vector<Point> Stream(size_t count) {
  std::vector<Point> points(count);
  unsigned random = 11;
  for (Point &p : points) {
    for (int &x : p.at) x = int(next_random(&random) % 100);
    p.centre = 0;
  }
  for (Point &p : points) p.cost = Distance(p, points[0]);
  return points;
}

long Cost(const std::vector<Point> &points) {
  long cost = 0;
  for (const Point &p : points) cost += p.cost;
  return cost;
}

class Clustering {
 public:
  explicit Clustering(size_t count) : points_(Stream(count)) {}

  void Work(size_t me) {
    size_t count = points_.size(), from = count * me / kWorkers, to = count * (me + 1) / kWorkers;
    for (int pass = 0; pass < kPasses; pass++) {
      // Two sets of gains, so that one barrier a pass is enough.
      long *gains = gains_[pass % 2];
      gains[me] = Gain(points_, from, to, Candidate(pass, count));
      barrier_.Wait();
      long gain = 0;
      for (int w = 0; w < kWorkers; w++) gain += gains[w];
      if (Worth(gain, count)) Open(points_, from, to, Candidate(pass, count));
    }
  }

  long Result() const { return Cost(points_); }

 private:
  std::vector<Point> points_;
  long gains_[2][kWorkers] = {};
  Barrier barrier_;
};

}  // namespace

int main(int argc, char **argv) {
  size_t count = work(argc, argv, kAccessesPerPoint);
  if (count < 8) count = 6;
  Clustering clustering(count);
  std::vector<std::thread> workers;
  for (size_t w = 0; w < kWorkers; w++) workers.emplace_back([&clustering, w] { clustering.Work(w); });
  for (std::thread &t : workers) t.join();
  std::vector<Point> points = Stream(count);
  for (int pass = 0; pass < kPasses; pass++) {
    int candidate = Candidate(pass, count);
    if (Worth(Gain(points, 0, count, candidate), count)) Open(points, 0, count, candidate);
  }
  assert(clustering.Result() == Cost(points));
}
