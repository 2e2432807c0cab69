// Package cprog runs C and C++ programs with Pthreads: it launches the program with
// heddle's runtime loaded, which repeats executions in one process, and names what the
// runtime reports as addresses. How the two talk is in internal/target/ipc.
package cprog
