// Package cprog runs C and C++ programs with Pthreads: it launches the program with
// heddle's runtime loaded, hands it plans through shared memory and reads back what came
// of them. The layout is internal/abi's; the C side of each barrier here is in
// runtime/shm.c.
package cprog
