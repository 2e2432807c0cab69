// heddle: The order in which a thread's own data is destroyed: thread_local first, then keys, round by round.
// kind: clean
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>

static pthread_key_t key[3], again, late;
static int rounds;

struct Noisy {
  const char *name;
  explicit Noisy(const char *n) : name(n) { std::printf("make %s\n", n); }
  ~Noisy() {
    std::printf("destroy %s, key 0 %s\n", name, pthread_getspecific(key[0]) ? "set" : "empty");
    pthread_setspecific(late, "set by a thread_local's destructor");
  }
};
static thread_local Noisy first("first"), second("second");
static void touch() { (void)&first; (void)&second; first.name = first.name; second.name = second.name; }

static void destroy(void *v) { std::printf("key: %s\n", static_cast<const char *>(v)); }
static void destroy_again(void *v) { // it comes back until the rounds are used up
  rounds++;
  pthread_setspecific(again, v);
}
static void *body(void *) {
  touch();
  for (int i = 2; i >= 0; i--) pthread_setspecific(key[i], i == 0 ? "zero" : i == 1 ? "one" : "two");
  pthread_setspecific(again, "again");
  return nullptr;
}

static void *nested(void *) { // a destructor that makes another object
  struct Outer { ~Outer() { static thread_local Noisy inner("inner"); (void)&inner; std::puts("outer"); } };
  static thread_local Outer outer;
  (void)&outer;
  return nullptr;
}

int main() {
  for (auto &k : key) pthread_key_create(&k, destroy);
  pthread_key_create(&again, destroy_again);
  pthread_key_create(&late, destroy);
  pthread_t t;
  for (int i = 0; i < 2; i++) {
    pthread_create(&t, nullptr, body, nullptr);
    pthread_join(t, nullptr);
  }
  std::printf("%d rounds\n", rounds);
  pthread_create(&t, nullptr, nested, nullptr);
  pthread_join(t, nullptr);
  pthread_key_delete(key[1]);
  pthread_create(&t, nullptr, body, nullptr);
  pthread_join(t, nullptr);
  // All keys there are, and one more.
  std::vector<pthread_key_t> all;
  for (pthread_key_t k; pthread_key_create(&k, nullptr) == 0;) all.push_back(k);
  std::printf("%d more keys\n", (int)all.size());
  for (auto k : all) pthread_key_delete(k);
  pthread_setspecific(key[0], "main's: not destroyed");
  touch();
  std::exit(5);
}
