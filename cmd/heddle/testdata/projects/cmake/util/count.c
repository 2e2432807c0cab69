#include "count.h"

void count_up(int *count, int n) {
  *count = *count + n;
}
