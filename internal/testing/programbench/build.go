package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/testing/expect"
)

// program is a correct program and its twin with a bug.
type program struct {
	Name      string
	Pass      string // source files
	Fail      string
	Switches  int // the bug's argued minimum
	Preempted int
	Kind      string
	Finding   string
}

// list returns the programs below dir, or only those named.
func list(dir string, only []string) ([]program, error) {
	files, err := filepath.Glob(filepath.Join(dir, "pass", "*.c*"))
	if err != nil {
		return nil, err
	}
	var programs []program
	for _, pass := range files {
		name := strings.TrimSuffix(filepath.Base(pass), filepath.Ext(pass))
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		fail := filepath.Join(dir, "fail", filepath.Base(pass))
		e, err := expect.Read(fail)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program{
			Name: name, Pass: pass, Fail: fail,
			Switches: e.Switches, Preempted: e.Preemptions, Kind: e.Kinds[0].String(), Finding: e.Finding,
		})
	}
	for _, name := range only {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.Name == name }) {
			return nil, fmt.Errorf("no program %q in %s", name, dir)
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no programs in %s: run programbench in the top directory of heddle's repository", dir)
	}
	return programs, nil
}

// binaries are the builds of a program: all with gcc and -O1 -g.
type binaries struct {
	name           string
	native, tsan   string // of the correct twin
	heddle, seeded string // with heddle, of the correct twin and of the one with the bug
	runtime        string // heddle's, as a shared object
}

func build(ctx context.Context, cs *bench.Compilers, p program, out string) (binaries, error) {
	b := binaries{name: p.Name, native: out + ".native", tsan: out + ".tsan", heddle: out, seeded: out + ".seeded", runtime: cs.Runtime.Library}
	compiler := cs.C
	if filepath.Ext(p.Pass) == ".cc" {
		compiler = cs.CXX
	}
	for _, made := range []struct {
		out, source string
		flags       []string
		wrapped     bool
	}{
		{b.native, p.Pass, nil, false},
		{b.tsan, p.Pass, []string{"-fsanitize=thread"}, false},
		{b.heddle, p.Pass, nil, true},
		{b.seeded, p.Fail, nil, true},
	} {
		args := slices.Concat([]string{"-O1", "-g", "-pthread"}, made.flags, []string{"-o", made.out, made.source})
		if err := cs.Compile(ctx, compiler, made.wrapped, args...); err != nil {
			return b, err
		}
	}
	return b, nil
}
