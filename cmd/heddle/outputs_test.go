package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file for output that the command line names and that cannot be written is a mistake in the command
// line, in every command, and is reported before any work is done.
func TestUnwritableOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prog := filepath.Join(dir, "masked")
	compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/ignore/masked.c")}, "gcc", "-O1", prog)
	bug := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--no-simplify", "--", prog).Trace
	nowhere := filepath.Join(dir, "missing", "x.hdl")
	for _, args := range [][]string{
		{"convert", bug, nowhere},
		{"simplify", "-o", nowhere, bug},
		{"simplify", "--static", "-o", nowhere, bug},
		{"simplify", "--static", "--derivation", filepath.Join(dir, "missing", "proof"), bug},
		{"find", "-o", nowhere, "--", prog},
		{"record", "-o", nowhere, "--", prog},
		{"man", "/dev/null/x"},
	} {
		out, err := heddleCommand(t, dir, nil, args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitUsage || !strings.Contains(string(out), "cannot write") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
