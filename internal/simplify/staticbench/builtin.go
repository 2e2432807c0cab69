package staticbench

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/heddle-dev/heddle/internal/rapid"
)

// traces are recorded from the Go programs in testdata/static/go, one run each.
//
//go:embed traces
var traces embed.FS

// recorded lists the programs of Table I.
var recorded = []struct {
	name, file string
	lines      int
}{
	{"CPhilo", "cphilo", 50},
	{"CMerge", "cmerge", 59},
	{"CTSP", "ctsp", 72},
	{"CWebDow", "cwebdow", 84},
}

// Builtin are traces of the four programs of Table I, as heddle has them in Go.
func Builtin() ([]Input, error) {
	var out []Input
	for _, r := range recorded {
		file := "traces/" + r.file + ".std.gz"
		text, err := traces.ReadFile(file)
		if err != nil {
			return nil, err
		}
		res, err := rapid.Read(bytes.NewReader(text), r.file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, Input{Name: r.name, Lines: r.lines, Events: res.Trace})
	}
	return out, nil
}
