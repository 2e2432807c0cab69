// Package abi is the Go side of runtime/include/heddle_abi.h: the layout of the memory
// that the controller and the runtime share, and the operation table. Everything in
// abi_gen.go comes from the compiled header (make generate); a test compiles the header
// again and compares.
package abi

//go:generate go run ./gen
