// heddle: Threads read a static object that a flag of the program's own says is initialised: the flag is a plain variable, which orders nothing.
// kind: data race
// finding: table
#include <thread>

struct Table {
  int size;
};

static Table only;
static bool done;

static Table &table() {
  if (!done) {
    only.size = 7;
    done = true;
  }
  return only;
}

static int seen[2];

static void look(int i) { seen[i] = table().size; }

int main() {
  std::thread a(look, 0), b(look, 1);
  a.join();
  b.join();
  return seen[0] + seen[1] != 14;
}
