// heddle: A worker that is cancelled while it holds a job gives the job back and puts the count right, both in a destructor.
// kind: clean
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
    in_hand--;
  }
};

static void *worker(void *) {
  std::unique_lock<std::mutex> l(lock);
  while (jobs == 0) arrived.wait(l);
  jobs--;
  Job job;
  arrived.wait_for(l, std::chrono::milliseconds(1)); // the job takes a while: a cancellation point
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
