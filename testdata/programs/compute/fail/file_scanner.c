// heddle: A file scanner in the shape of pfscan: main queues files, two workers search them for a word, main waits until no worker is active.
//   The last worker signals without the lock with which main looks whether one is active.
// kind: deadlock
// finding: wait_for_workers
// minimum: switches=3 preemptions=1
// why: Main sees an active worker, the last worker signals, and main begins to wait. If both workers
//   end in between: main, the two workers, main. If one ends before main looks, main has one more
//   interval. Main is enabled when it is about to wait: one preemption.
#define SEEDED
#include "../file_scanner.c"
