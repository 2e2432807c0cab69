// heddle: A state word is written by halves and awaited as a whole: the acquire load of the word sees the release of its upper half.
// kind: clean
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
  if (__atomic_load_n(&state.word, __ATOMIC_ACQUIRE) >> 16)
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
