// heddle: Threads read a function's static object, which the first of them initialises: the guard's fast path orders the initialisation before every read, and no data race is seen.
// kind: clean
#include <thread>

struct Table {
  int size;
  Table() { size = 7; }
};

static Table &table() {
  static Table only;
  return only;
}

static int seen[3];

static void look(int i) { seen[i] = table().size; }

int main() {
  std::thread a(look, 0), b(look, 1);
  look(2);
  a.join();
  b.join();
  return seen[0] + seen[1] + seen[2] != 21;
}
