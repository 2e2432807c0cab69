// Package pattern recognises kinds of concurrency bugs in the events of an execution that fails, and in the ordering of two events on
// which its failure depends.
//
// Each pattern is one file, with the rule by which the events show it and what a report says of it; table lists them. A pattern is a name
// for what the events show, and never a guess: where none applies, the name is that of the plain ordering, OrderViolation.
package pattern
