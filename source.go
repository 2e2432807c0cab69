// Package heddle carries the source of the C runtime, so that a heddle that came from
// go install can build it for the user's compiler. It is no programming interface; the
// public packages are trace and schedule.
//
// The embedding is done here and not in runtime/, because Go refuses a package directory
// that holds C files without cgo.
package heddle

import (
	"embed"
	"io/fs"
)

//go:embed runtime/*.c runtime/*.S runtime/*.h runtime/*.def runtime/include/*.h
var source embed.FS

// RuntimeSource is the directory runtime/ of this repository: the C and assembler files,
// and the headers they include.
func RuntimeSource() fs.FS {
	sub, err := fs.Sub(source, "runtime")
	if err != nil {
		panic(err) // "runtime" is a valid path
	}
	return sub
}
