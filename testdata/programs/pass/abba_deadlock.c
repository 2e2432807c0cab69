// heddle: A transfer locks both accounts in order of their numbers, whichever of them pays.
// kind: clean
#include <assert.h>
#include <pthread.h>

struct account {
  int number;
  pthread_mutex_t lock;
  long balance;
};

struct order {
  struct account *from, *to;
  long amount;
};

static struct account checking = {1, PTHREAD_MUTEX_INITIALIZER, 500};
static struct account savings = {2, PTHREAD_MUTEX_INITIALIZER, 500};

static void *transfer(void *arg) {
  const struct order *o = arg;
  struct account *first = o->from->number < o->to->number ? o->from : o->to;
  struct account *second = first == o->from ? o->to : o->from;
  pthread_mutex_lock(&first->lock);
  pthread_mutex_lock(&second->lock);
  o->from->balance -= o->amount;
  o->to->balance += o->amount;
  pthread_mutex_unlock(&second->lock);
  pthread_mutex_unlock(&first->lock);
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
