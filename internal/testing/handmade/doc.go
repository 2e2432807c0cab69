// Package handmade generates small programs that synchronise threads by means of their own: spin locks,
// queues of waiters, latches, barriers, sequence locks, events, rings and lists without locks, and main
// threads that poll. Some are correct, the others have one bug. It says of each how it may end.
//
// A program is written in a subset of C (parse.go), for which there are three implementations:
// the C or C++ source that heddle cc compiles (render.go), a program of the simulated machine
// (machine.go), and the graph of all its states (graph.go). The graph says what is true: whether a
// failed assertion can be reached, and whether a state can be reached from which the program does not
// end however fairly its threads take turns. heddle must say the same.
package handmade
