// heddle: A worker checks its stop token and then waits on a condition that is independent of it; the notification in between is lost.
// kind: deadlock
// flags: -std=c++20
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable work;
static int jobs, done;

static void worker(std::stop_token token) {
  std::unique_lock l(lock);
  while (!token.stop_requested()) {
    if (jobs == 0) work.wait(l);
    if (jobs > 0) {
      jobs--;
      done++;
    }
  }
}

int main() {
  std::jthread t(worker);
  {
    std::lock_guard l(lock);
    jobs = 1;
  }
  work.notify_one();
  t.request_stop();
  work.notify_one(); // without the lock: perhaps between the worker's look and its wait
  t.join();
  return done > 1;
}
