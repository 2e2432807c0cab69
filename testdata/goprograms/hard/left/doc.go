// Package left has a test that leaves a goroutine behind, which runs forever. It is
// right where goroutines may be left.
package left
