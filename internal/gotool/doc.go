// Package gotool encapsulates the go command: which one to use and whether heddle supports its
// release, the packages that a pattern names, building a test binary or a program with an overlay
// over Go's own runtime, and listing the tests in a test binary.
//
// It asks the go command itself, in the directory where the user called heddle, so that modules,
// workspaces, vendoring, toolchain lines and GOFLAGS have the meaning they have for go build. It
// writes to none of the user's files.
package gotool
