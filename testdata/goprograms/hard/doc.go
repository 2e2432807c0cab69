// Package hard has tests of what is hardest to repeat: each leans on a part of Go's runtime
// or library that does something of its own accord. They are right under every schedule,
// and an execution is the same in every process.
package hard
