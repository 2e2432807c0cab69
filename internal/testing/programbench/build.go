package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/testing/expect"
	"github.com/heddle-dev/heddle/internal/toolchain"
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

type compilers struct {
	c, cxx  toolchain.Compiler
	runtime toolchain.Runtime
}

// findCompilers uses gcc, which ThreadSanitizer's figures are for, whatever HEDDLE_CC says.
func findCompilers(ctx context.Context) (cs compilers, err error) {
	for name, value := range map[string]string{"HEDDLE_CC": "gcc", "HEDDLE_CXX": "g++"} {
		if err := os.Setenv(name, value); err != nil {
			return cs, err
		}
	}
	if cs.c, err = toolchain.Find(ctx, toolchain.C); err != nil {
		return cs, err
	}
	if cs.cxx, err = toolchain.Find(ctx, toolchain.CXX); err != nil {
		return cs, err
	}
	cache, err := toolchain.CacheDir("")
	if err != nil {
		return cs, err
	}
	cs.runtime, err = toolchain.Build(ctx, toolchain.Options{Compiler: cs.c, Cache: cache})
	return cs, err
}

func (cs *compilers) build(ctx context.Context, p program, out string) (binaries, error) {
	b := binaries{name: p.Name, native: out + ".native", tsan: out + ".tsan", heddle: out, seeded: out + ".seeded", runtime: cs.runtime.Library}
	compiler := cs.c
	if filepath.Ext(p.Pass) == ".cc" {
		compiler = cs.cxx
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
		argv := append(slices.Clone(compiler.Command), args...)
		if made.wrapped {
			var err error
			if argv, err = toolchain.Wrap(compiler, args, func() (toolchain.Runtime, error) { return cs.runtime, nil }); err != nil {
				return b, err
			}
		}
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		if msg, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, msg)
		}
	}
	return b, nil
}

// host says where figures come from.
type host struct {
	CPUs     int    `json:"cpus"`
	Model    string `json:"model"`
	Compiler string `json:"compiler"`
	Load     string `json:"load"` // averages over 1, 5 and 15 minutes, when programbench started
}

func thisHost(cs compilers) host {
	m := host{CPUs: runtime.NumCPU(), Compiler: cs.c.Version}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			m.Model = strings.TrimSpace(value)
			break
		}
	}
	return m
}
