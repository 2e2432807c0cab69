// child.h: what a child of the program that was forked beside other threads tells its parent.
#ifndef HD_PROCESS_CHILD_H
#define HD_PROCESS_CHILD_H
#include "core/run.h"

enum { HD_CHILD_RUNS, HD_CHILD_EXECS /* another program, or is about to */, HD_CHILD_STUCK };
enum { HD_CHILD_FRAMES = 64 };

// In memory that the child shares with the program.
struct hd_fate {
  uint32_t state;
  uint32_t process;  // the kernel's identifier
  // of a child that is stuck:
  uint16_t op;       // enum hd_op
  uint32_t holder;   // 1 + the number of the thread that holds the object; 0: none or unknown
  uint64_t object;
  uint64_t pc;
  uint32_t nframes;
  uint64_t frames[HD_CHILD_FRAMES]; // its stack, innermost first
};

bool hd_child_shares(uint64_t at); // the memory is shared with other processes, which can change an object there
void hd_child_begins(struct hd_fate *fate); // this process is a child that was forked beside other threads
void hd_child_execs(bool on);               // it is about to execute another program, or that has failed
#endif
