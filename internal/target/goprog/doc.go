// Package goprog runs Go programs and tests whose Go runtime was built with heddle's
// overlay. Such a program speaks the same protocol over the same shared memory as a C
// program under heddle's runtime (internal/target/ipc). What differs:
//
// There is no memory snapshot. A test is repeated by running its function again, after one
// execution that warms up what is made at first use; a program's main runs once in a
// process. So executions that have to be alike, those of Run, each get a fresh process,
// which was started and warmed up while the one before was busy. Stream repeats in the
// process, up to Config.PerProcess times. A test that fails already while it warms up is
// "cold": each of its executions gets a process of its own, without warm-up.
//
// What a program writes is not in the records: the controller reads the file that is the
// program's standard output and error. The message of a panic comes from there.
package goprog
