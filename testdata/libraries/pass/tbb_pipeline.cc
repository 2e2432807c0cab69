// heddle: A parallel pipeline's serial filters share a sum and an item's memory without a lock, which the library orders.
// kind: clean
// flags: -std=c++17 -ltbb
#include <cassert>
#include <tbb/parallel_pipeline.h>

struct item { int value; };
static item items[4];
static int next, sum;

int main() {
  tbb::parallel_pipeline(3,
    tbb::make_filter<void, item *>(tbb::filter_mode::serial_in_order, [](tbb::flow_control &fc) -> item * {
      if (next == 4) { fc.stop(); return nullptr; }
      items[next].value = next;
      return &items[next++];
    }) &
    tbb::make_filter<item *, item *>(tbb::filter_mode::parallel, [](item *i) { i->value *= 2; return i; }) &
    tbb::make_filter<item *, void>(tbb::filter_mode::serial_in_order, [](item *i) { sum += i->value; }));
  assert(sum == 12);
  return 0;
}
