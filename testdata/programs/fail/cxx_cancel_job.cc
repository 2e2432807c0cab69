// heddle: A worker that is cancelled while it holds a job gives the job back in a destructor, but the count of jobs in hand is put right on the normal path only.
// kind: assertion
// finding: in_hand == 0
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>

static std::mutex lock;
static std::condition_variable_any arrived;
static int jobs, in_hand;

struct Job {
  Job() { in_hand++; }
  ~Job() {
    jobs++;
  }
};

static void *worker(void *) {
  std::unique_lock<std::mutex> l(lock);
  while (jobs == 0) arrived.wait(l);
  jobs--;
  Job job;
  arrived.wait_for(l, std::chrono::milliseconds(1)); // the job takes a while: a cancellation point
  in_hand--;
  return nullptr;
}

int main() {
  pthread_t w;
  pthread_create(&w, nullptr, worker, nullptr);
  {
    std::lock_guard<std::mutex> l(lock);
    jobs++;
  }
  arrived.notify_one();
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // by then it is done, nearly always
  pthread_cancel(w);
  pthread_join(w, nullptr);
  std::lock_guard<std::mutex> l(lock);
  assert(in_hand == 0);
  assert(jobs == 1);
}
