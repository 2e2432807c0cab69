// Package live runs programs on the backend live: their threads run in parallel under the kernel's
// scheduler, and the library runtime/live only observes, or suspends a thread for a while. An
// execution is a process of its own. docs/live.md describes the files through which the package and
// the library talk.
package live
