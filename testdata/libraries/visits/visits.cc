// heddle: Two threads increment a counter. Whether a library without access hooks may order them depends on the argument.
// kind: clean
#include "library.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string>

static std::string how;
static const char *file;
static int counter;
static Lock *object;
static const own_functions *table;
static own_functions opened;

static void increment() { counter++; }

static void locked() {
  own_lock();
  counter++;
  own_unlock();
}

static void with(const own_functions *f) {
  f->lock();
  counter++;
  f->unlock();
}

static void by_object() {
  object->lock();
  counter++;
  object->unlock();
}

static own_functions open(void *library) {
  return {reinterpret_cast<void (*)()>(dlsym(library, "own_lock")), reinterpret_cast<void (*)()>(dlsym(library, "own_unlock"))};
}

static void reopened() {
  void *library = dlopen(file, RTLD_NOW);
  own_functions f = open(library);
  with(&f);
  dlclose(library);
}

static void *first(void *) {
  if (how == "locked" || how == "one") locked();
  else if (how == "before") own_nothing(), counter++;
  else if (how == "after") counter++, own_nothing();
  else if (how == "callback" || how == "callback-one") own_locked(increment);
  else if (how == "object" || how == "object-one") by_object();
  else if (how == "table") with(table);
  else if (how == "opened" || how == "opened-one") with(&opened);
  else if (how == "reopened") reopened();
  else counter++;
  return nullptr;
}

static void *second(void *) {
  if (how == "locked") locked();
  else if (how == "before") own_nothing(), counter++;
  else if (how == "after") counter++, own_nothing();
  else if (how == "callback") own_locked(increment);
  else if (how == "object") by_object();
  else if (how == "table") with(table);
  else if (how == "opened") with(&opened);
  else if (how == "reopened") reopened();
  else if (how == "posted" || how == "posted-apart") own_wait(), counter++;
  else counter++;
  return nullptr;
}

static void *post(void *) {
  own_post();
  return nullptr;
}

int main(int, char **argv) {
  pthread_t t[3];
  how = argv[1];
  file = argv[2];
  object = own_new();
  table = own_table();
  if (how.compare(0, 6, "opened") == 0) {
    void *library = dlopen(file, RTLD_NOW);
    opened = open(library);
  }
  if (how == "thread") {
    own_start(increment);
    own_wait();
    counter++;
    return 0;
  }
  pthread_create(&t[0], nullptr, first, nullptr);
  pthread_create(&t[1], nullptr, second, nullptr);
  if (how == "posted") pthread_join(t[0], nullptr); // and so the first increment is before own_post
  if (how == "posted" || how == "posted-apart") {
    pthread_create(&t[2], nullptr, post, nullptr);
    pthread_join(t[2], nullptr);
  }
  if (how != "posted") pthread_join(t[0], nullptr);
  pthread_join(t[1], nullptr);
}
