// heddle: A file scanner in the shape of pfscan: main queues files, two workers search them for a word, main waits until no worker is active.
//   The last worker signals without the lock with which main looks whether one is active.
// kind: deadlock
// finding: wait_for_workers
// minimum: switches=3 preemptions=1
// why: Main sees an active worker, the last worker signals, main begins to wait. If all workers end
//   between: main, both workers, main. If one ends before main looks, main has one interval more.
//   Main could begin to wait when it is switched from.
#define SEEDED
#include "../file_scanner.c"
