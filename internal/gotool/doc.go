// Package gotool is what heddle knows about the go command: which one is meant and whether
// its release can be used, what packages a pattern names, how a test binary or a program is
// built with an overlay over Go's own runtime, and which tests a test binary has.
//
// Everything is asked of the go command itself, in the directory where the user called
// heddle: modules, workspaces, vendoring, toolchain lines and GOFLAGS mean there what they
// mean to go build. Nothing of the user's is written to.
package gotool
