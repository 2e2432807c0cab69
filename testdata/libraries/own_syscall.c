// heddle: A thread waits on a futex by a system call instruction of its own, and the wake-up may come before the wait: it is lost.
// kind: deadlock
// finding: futex
// flags: -pthread
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>

static int word;

static long call(int operation, int value) {
  long result;
  register long timeout __asm__("r10") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_futex), "D"(&word), "S"(operation), "d"(value), "r"(timeout) : "rcx", "r11", "memory");
  return result;
}

static void *waiter(void *arg) {
  (void)arg;
  call(FUTEX_WAIT, 0);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, waiter, NULL);
  call(FUTEX_WAKE, 1);
  pthread_join(t, NULL);
  return 0;
}
