// Package contract tests the scheduler contract, docs/scheduler.md: one corpus of small
// programs, plans and the decisions that the contract expects, run by the C runtime, by the
// Go runtime's hooks and by the simulated machine. Only tests use it.
//
// A case is a file of testdata in txtar form. Its comment names the part of the contract that it
// tests. Its sections are:
//
//	program        the program, in the language below
//	plan           a line for each field: policy, seed, stay, depth, length, mode, steps, fair-after,
//	               timeouts, spurious, delays, points, and a line for each hold:
//	               hold load@7 until=store@9 same ever reached last=add@5 not arrival=2
//	               thread=a steps=10 time, where load@7 is the load in line 7 of the program
//	script         the decisions of a script
//	expect LANG…   the decisions that are expected of these of c, go, sim
//	none LANG…     why these have no counterpart; the runner prints it
//
// The expectations are written from the contract, by hand or, where random draws decide, by
// evaluating its pseudo-code apart from the three implementations (model_test.go). Do not copy them
// from the output of an implementation.
//
// A program is a list of functions: a name and a colon, then an operation a line, indented.
// main is the main thread; the others are threads, each started once, or a signal handler.
// Variables are declared before the first function.
//
//	var x y            int variables, all 0
//	mutex m            cond c m        a condition variable and, for Go, its mutex
//
//	go a    join a     start a thread, wait for its end
//	lock m  unlock m   trylock m
//	wait c m           timedwait c m NS     signal c    broadcast c
//	read x  write x N  plain accesses; scheduling points if the plan says points
//	load x  store x N  add x N              atomic
//	each x y N         store N to x, then to y, with one instruction; yield after each
//	spin x N           load until x is N
//	poll x N           load until x is N, and yield in between
//	await x N          read until x is N, which is not a scheduling point
//	compute N          N quiet stretches of writes
//	yield   sleep NS   timer NS             a timer that expires once and notifies no thread
//	handle h           h handles SIGUSR1
//	kill a             send SIGUSR1 to a thread
//	loop N … end       repeat
//
// Decisions are written as the thread's name, a colon, and a word for each operation that it
// does until another thread runs; "load*7" is seven of them, "sleep!" is one that
// overtakes. Lines after them say how the execution ends, its counts and those of each hold. In a script a word may name the line of the program it means, as in "load@12";
// otherwise it is the next line with such an operation.
package contract
