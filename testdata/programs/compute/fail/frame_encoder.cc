// heddle: A video encoder in the shape of x264: a thread for each frame; a row is coded when the frame before has been coded as far as motion reaches.
//   The threads wait for the row at the same height only, although motion reaches into the row below.
// kind: assertion
// finding: main
// minimum: switches=6 preemptions=1
// why: A thread codes a row while the thread of the frame before is in the row below. That one has
//   an interval before and one after, and because the last row needs all of the frame before, so
//   does the first: four intervals of two threads. The third thread has one at least, and main is first
//   and last. A thread that can code its next row is enabled when the other takes over: one
//   preemption, and the third thread runs before or after all of that.
#define SEEDED
#include "../frame_encoder.cc"
