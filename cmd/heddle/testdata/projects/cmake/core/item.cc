#include "item.h"
#include "../util/count.h"

void item::add(int n, bool locked) {
  std::unique_lock<std::mutex> guard(lock, std::defer_lock);
  if (locked) guard.lock();
  count_up(&count, n);
}
