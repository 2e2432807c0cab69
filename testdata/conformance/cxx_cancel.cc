// heddle: Cancellation and pthread_exit unwind C++ frames: destructors run, catch (...) sees it pass.
// kind: clean
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex m;
static std::condition_variable cv;
static sem_t ready, never;

struct Say {
  const char *name;
  ~Say() { std::printf("~%s\n", name); }
};

static void inner() {
  Say s{"inner"};
  std::unique_lock<std::mutex> lock(m);
  sem_post(&ready);
  cv.wait(lock, [] { return false; });
}
static void *waits(void *) {
  Say s{"outer"};
  try {
    inner();
  } catch (...) {
    std::puts("passes");
    throw;
  }
  return nullptr;
}
static void *in_sem(void *) {
  std::vector<int> heap(1000);
  Say s{"sem"};
  sem_post(&ready);
  sem_wait(&never);
  return nullptr;
}
static void *exits(void *) {
  Say s{"exits"};
  [] {
    Say s{"lambda"};
    pthread_exit(nullptr);
  }();
  return nullptr;
}
static void handler(void *) { std::puts("handler"); }
static void *handlers(void *) {
  pthread_cleanup_push(handler, nullptr);
  Say s{"between"};
  sem_post(&ready);
  sem_wait(&never);
  pthread_cleanup_pop(0);
  return nullptr;
}

// An initialiser of once that is cancelled or throws leaves it to the next.
static std::once_flag flag;
static int tries;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void slow() {
  if (++tries == 1) {
    sem_post(&ready);
    sem_wait(&never);
  }
}
static void *runs(void *) {
  pthread_once(&once, slow);
  return nullptr;
}
struct Local {
  Local() {
    if (++tries == 1) throw std::runtime_error("first");
  }
};
static bool get_local() {
  try {
    static Local local;
    return true;
  } catch (std::runtime_error &) { return false; }
}

static void cancelled(void *(*fn)(void *)) {
  pthread_t t;
  void *ret;
  pthread_create(&t, nullptr, fn, nullptr);
  sem_wait(&ready);
  pthread_cancel(t);
  pthread_join(t, &ret);
  std::printf("cancelled: %d\n", ret == PTHREAD_CANCELED);
}

int main() {
  sem_init(&ready, 0, 0);
  sem_init(&never, 0, 0);
  cancelled(waits);
  std::printf("the lock is free: %d\n", m.try_lock());
  m.unlock();
  cancelled(in_sem);
  cancelled(handlers);
  pthread_t t;
  pthread_create(&t, nullptr, exits, nullptr);
  pthread_join(t, nullptr);
  cancelled(runs);
  pthread_once(&once, slow);
  std::printf("tries: %d\n", tries);
  tries = 0;
  for (int i = 0; i < 3; i++) {
    try {
      std::call_once(flag, [] {
        if (++tries < 3) throw std::runtime_error("again");
      });
    } catch (std::runtime_error &) { std::puts("threw"); }
  }
  std::printf("tries: %d\n", tries);
  tries = 0;
  int first = get_local(), second = get_local(), third = get_local();
  std::printf("local: %d %d %d, tries: %d\n", first, second, third, tries);
}
