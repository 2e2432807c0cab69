// What a thread does in a loop that waits for another, as the program's argument says. It is not
// part of the loop's own accesses.
#include <sched.h>
#include <string.h>
#include <time.h>

static const char *rest_how = "look";

__attribute__((constructor)) static void rest_init(int argc, char **argv) {
  if (argc > 1) rest_how = argv[1];
}

__attribute__((no_sanitize("thread"), noinline, unused)) static void rest(void) {
  struct timespec micro = { 0, 1000 }, none = { 0, 0 };
  switch (rest_how[0]) {
  case 'p': __builtin_ia32_pause(); break;
  case 'y': sched_yield(); break;
  case 'm': nanosleep(&micro, 0); break;
  case 'n': nanosleep(&none, 0); break;
  }
}
