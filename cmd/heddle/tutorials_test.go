//go:build e2e

package main

import "testing"

// The tutorials work on programs of others, whose sources come from Debian and Go's module proxy.
func TestTutorials(t *testing.T) { runDocumented(t, "e2e") }
