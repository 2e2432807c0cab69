// heddle: A worker waits on a condition together with its stop token.
// kind: clean
// flags: -std=c++20
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any work;
static int jobs, done;

static void worker(std::stop_token token) {
  std::unique_lock l(lock);
  while (!token.stop_requested()) {
    work.wait(l, token, [] { return jobs > 0; });
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
