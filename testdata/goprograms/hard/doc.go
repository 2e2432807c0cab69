// Package hard tests behaviour that is hard to repeat: each test relies on a part of Go's runtime
// or library that does something of its own accord. They are right under every schedule,
// and an execution is the same in every process.
package hard
