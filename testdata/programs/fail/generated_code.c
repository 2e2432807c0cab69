// heddle: A ticket is drawn by a read and a write, with a call in between that code made at run time does; two threads can draw the same ticket.
// kind: assertion
// isolation: fork
// finding: tickets == 2
// minimum: switches=4 preemptions=1
// why: Both threads read before either writes: main, one up to its yield, the other, and main
//   again, with the first in between to write. It is left where it yields; the others end.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

static int tickets;
static int (*call)(int (*)(void));

static int nothing(void) { return 0; }

static void *draw(void *arg) {
  (void)arg;
  int mine = tickets;
  call(sched_yield);
  tickets = mine + 1;
  return NULL;
}

int main(void) {
  // sub $8,%rsp; call *%rdi; add $8,%rsp; ret
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(page != MAP_FAILED);
  memcpy(page, code, sizeof code);
  assert(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  memcpy(&call, &page, sizeof call);
  assert(call(nothing) == 0);
  pthread_t a, b;
  pthread_create(&a, NULL, draw, NULL);
  pthread_create(&b, NULL, draw, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(tickets == 2);
  return 0;
}
// cause: tickets: mine = tickets | tickets = mine + 1
