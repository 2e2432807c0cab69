// heddle: A video encoder in the shape of x264: a thread for each frame; a row is coded when the frame before has been coded as far as motion reaches.
// kind: clean
#include "../frame_encoder.cc"
