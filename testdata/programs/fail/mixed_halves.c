// heddle: A state word is written and awaited by halves: the receiver waits for the upper half with a relaxed load and then acquires the lower one, which the sender has not released.
// kind: data race
// finding: receive
// minimum: switches=3 preemptions=0
// why: main must start both threads before it waits for them, the sender must send before the receiver looks, and main
//   joins both.
#include <pthread.h>
#include <stdint.h>

static union { uint32_t word; uint16_t half[2]; } state;
int message;
static volatile int received;

static void *send(void *arg) {
  message = 42;
  __atomic_store_n(&state.half[1], 1, __ATOMIC_RELEASE);
  return arg;
}

static void *receive(void *arg) {
  if (__atomic_load_n(&state.word, __ATOMIC_RELAXED) >> 16 && !__atomic_load_n(&state.half[0], __ATOMIC_ACQUIRE))
    received = message;
  return arg;
}

int main(void) {
  pthread_t sender, receiver;
  pthread_create(&sender, NULL, send, NULL);
  pthread_create(&receiver, NULL, receive, NULL);
  pthread_join(sender, NULL);
  pthread_join(receiver, NULL);
  return 0;
}
