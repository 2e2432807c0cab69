// Package goprog runs Go programs and tests whose Go runtime was built with heddle's overlay. Such
// a program speaks the same protocol over the same shared memory as a C program under heddle's
// runtime (internal/target/ipc). The differences:
//
// No memory snapshot exists. A test is repeated by calling its function again, after one execution
// that initialises what is created at first use; a program's main runs once per process. Executions
// that have to be alike, those of Run, therefore each get a fresh process, started and warmed up
// while the previous one was busy. Stream repeats executions in one process, up to
// Config.PerProcess times. A test that fails in its warm-up is "cold": each of its executions gets
// a process of its own, without warm-up.
//
// The records contain the program's output only where a plan wants it of a clean execution.
// Otherwise the controller reads the file that is the program's standard output and error. The
// message of a panic comes from there.
package goprog
