#pragma once
#include <mutex>

struct item {
  std::mutex lock;
  int count = 0;
  void add(int n, bool locked);
};
