// Package simprog is a target without a process: concurrent programs written as Go functions, run
// on a simulated machine. It exists for tests of the layers above targets (engine, simplifier,
// strategies), which can thus run in microseconds, on any machine, against programs whose bugs are
// known exactly.
//
// A program is a function for its main thread. It and the functions of the threads it
// creates run as coroutines, one at a time, and do everything that matters through their
// *Thread: each method is one operation of the table in runtime/include/heddle_abi.h, and
// its place in the program (the instruction) is where it is called. Between two operations
// a thread runs on its own, as a native thread runs between two hooks. Executions must not
// share state: what a program uses it creates in its main function, and it draws random
// numbers from Thread.Rand. (A test may break that on purpose to have a program that does
// not repeat.)
//
// The machine keeps to the scheduler contract (docs/scheduler.md) with the threads of C programs:
// what is a scheduling point, which threads are enabled, the policies and their random draws, both
// ways of following a script, virtual time, spinning, and how an execution ends. It does not
// implement signals, timed waits other than for conditions, and what that page describes as
// specific to C. internal/testing/contract compares it with the other implementations.
package simprog
