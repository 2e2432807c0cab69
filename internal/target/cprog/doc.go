// Package cprog runs C and C++ programs with Pthreads. It launches the program with heddle's
// runtime loaded, which repeats executions in one process, and names what the runtime reports as
// addresses. The protocol between them is in internal/target/ipc.
package cprog
