// A stack of free slots that counts them, so that the last one is never popped, and on which a
// thread claims a slot by taking its link before it moves the head. Three threads each pop a slot, use
// it and push it back, ROUNDS times. With SEEDED, the head has no version: if the slot was popped and
// pushed again after a thread has read the head and before it takes the link, two threads can leave
// with one slot.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif
#define USERS 3
#define SLOTS 3
#define TAKEN 0xff
#define NONE 0xfe

static _Atomic unsigned head;  // a slot in the low byte, its version above
static _Atomic int count = SLOTS;
static _Atomic unsigned char link[SLOTS];
static _Atomic int user_of[SLOTS];

static unsigned with(unsigned old, unsigned slot) {
#ifdef SEEDED
  (void)old;
  return slot;
#else
  return ((old >> 8) + 1) << 8 | slot;
#endif
}

static int pop(void) {
  while (atomic_load(&count) > 1) {
    unsigned old = atomic_load(&head), slot = old & 0xff;
    unsigned char next = atomic_exchange(&link[slot], TAKEN);
    if (next == TAKEN) continue;
    if (atomic_compare_exchange_strong(&head, &old, with(old, next))) {
      atomic_fetch_sub(&count, 1);
      return (int)slot;
    }
    atomic_exchange(&link[slot], next);
  }
  return -1;
}

static void push(int slot) {
  unsigned old = atomic_load(&head);
  do atomic_store(&link[slot], (unsigned char)(old & 0xff));
  while (!atomic_compare_exchange_strong(&head, &old, with(old, (unsigned)slot)));
  atomic_fetch_add(&count, 1);
}

static void *user(void *arg) {
  int me = 1 + *(int *)arg;
  for (int i = 0; i < ROUNDS; i++) {
    int slot = pop();
    if (slot < 0) continue;
    atomic_store(&user_of[slot], me);
    assert(atomic_load(&user_of[slot]) == me);
    push(slot);
  }
  return NULL;
}

int main(void) {
  static int number[USERS];
  pthread_t users[USERS];
  for (int i = 0; i < SLOTS; i++) atomic_store(&link[i], i + 1 < SLOTS ? (unsigned char)(i + 1) : NONE);
  for (int i = 0; i < USERS; i++) {
    number[i] = i;
    pthread_create(&users[i], NULL, user, &number[i]);
  }
  for (int i = 0; i < USERS; i++) pthread_join(users[i], NULL);
  return 0;
}
