// heddle: A transfer locks the paying account first and the paid one second, so two opposite transfers can wait for each other.
// kind: deadlock
// finding: transfer
// minimum: switches=2 preemptions=1
// why: main and both transfers must run: three intervals. The transfer that runs first is left
//   holding its first lock, and its second one is still free then, because the other transfer
//   has not run. main waits in its first join meanwhile.
#include <assert.h>
#include <pthread.h>

struct account {
  pthread_mutex_t lock;
  long balance;
};

struct order {
  struct account *from, *to;
  long amount;
};

static struct account checking = {PTHREAD_MUTEX_INITIALIZER, 500};
static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 500};

static void *transfer(void *arg) {
  const struct order *o = arg;
  pthread_mutex_lock(&o->from->lock);
  pthread_mutex_lock(&o->to->lock);
  o->from->balance -= o->amount;
  o->to->balance += o->amount;
  pthread_mutex_unlock(&o->to->lock);
  pthread_mutex_unlock(&o->from->lock);
  return NULL;
}

int main(void) {
  static struct order save = {&checking, &savings, 100};
  static struct order spend = {&savings, &checking, 30};
  pthread_t a, b;
  pthread_create(&a, NULL, transfer, &save);
  pthread_create(&b, NULL, transfer, &spend);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(checking.balance == 430 && savings.balance == 570);
  return 0;
}
// cause: lock: pthread_mutex_lock(&o->to->lock)
