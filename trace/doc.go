// Package trace is the model of one execution of a concurrent program: its threads,
// the events in the order they happened, and how it ended. Every other part of heddle
// speaks in these terms (Jalbert and Sen, FSE'10, §3.1).
package trace
