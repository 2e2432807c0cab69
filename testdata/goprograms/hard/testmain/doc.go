// Package testmain has a TestMain that starts goroutines of its own before the tests and
// ends them after.
package testmain
