// heddle: A parallel filter of a pipeline adds to a sum without a lock; two of its calls overlap.
// kind: assertion
// finding: sum == 12
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
    tbb::make_filter<item *, item *>(tbb::filter_mode::parallel, [](item *i) { i->value *= 2; sum += i->value; return i; }) &
    tbb::make_filter<item *, void>(tbb::filter_mode::serial_in_order, [](item *i) { assert(i->value < 8); }));
  assert(sum == 12);
  return 0;
}
