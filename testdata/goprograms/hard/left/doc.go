// Package left has a test that leaves a goroutine behind, which goes on forever. It is
// right where goroutines may be left.
package left
