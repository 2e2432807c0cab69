// Package heddle carries the source of both runtimes, so that a heddle installed by
// go install can compile them with the user's tools, and the schema of its output. It is not a programming interface; the
// public packages are trace and schedule.
//
// The files are embedded here rather than in runtime/ because Go refuses a package
// directory that holds C files without cgo.
package heddle

import (
	"bytes"
	"embed"
	"io/fs"
)

//go:embed runtime/c runtime/include
var cSource embed.FS

//go:embed runtime/live runtime/include/assembly_hooks.h runtime/include/sharing.h
var liveSource embed.FS

//go:embed runtime/go
var goSource embed.FS

// CRuntime returns runtime/ without the Go runtime: the C and assembler files and the
// headers they include.
func CRuntime() fs.FS { return below(cSource, "runtime") }

// LiveRuntime returns runtime/live, the library of the backend live, and the headers that it shares with the C runtime.
func LiveRuntime() fs.FS { return below(liveSource, "runtime") }

// GoRuntime returns runtime/go: heddle's additions to Go's standard library, a directory
// for each variant of each package.
func GoRuntime() fs.FS { return below(goSource, "runtime/go") }

//go:embed docs/json.schema.json
var jsonSchema []byte

// JSONSchema returns docs/json.schema.json, the JSON Schema of what the commands print with --json.
func JSONSchema() []byte { return bytes.Clone(jsonSchema) }

func below(source embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(source, dir)
	if err != nil {
		panic(err) // dir is a valid path
	}
	return sub
}
