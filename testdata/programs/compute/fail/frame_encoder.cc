// heddle: A video encoder in the shape of x264: a thread for each frame; a row is coded when the frame before has been coded as far as motion reaches.
//   The threads wait for the row at the same height only, although motion reaches into the row below.
// kind: assertion
// finding: main
// minimum: switches=6 preemptions=1
// why: Thread B codes a row after thread A, which codes the frame before, has coded the row at that
//   height and before it codes the row below. A runs before and after that. The last row of B's
//   frame needs all of A's, so B runs again: A, B, A, B. The third thread runs at least once, before
//   or after all this, and main is first and last: seven intervals. A can code its next row when B
//   takes over: one preemption.
#define SEEDED
#include "../frame_encoder.cc"
