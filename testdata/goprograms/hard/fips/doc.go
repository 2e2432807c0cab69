// Package fips draws random numbers in FIPS 140-3 mode, in which Go gets entropy by measuring the time that the processor
// takes.
package fips
