package main

import "github.com/heddle-dev/heddle/internal/result"

// What heddle find and heddle test print, in the terms of the tests.
type (
	findJSON    = result.Find
	testJSON    = result.Test
	packageJSON = result.Package
)
