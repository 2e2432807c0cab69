package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/testing/expect"
)

// program is a program with a bug, at one size if it is of a family.
type program struct {
	Name   string
	Source string
	Flags  []string
	Expect expect.Program
}

// sizes are the sizes at which families are measured, by name: flags that follow the name.
var sizes = map[string][]string{
	"reorder":       {"THREADS=3", "THREADS=10", "THREADS=30", "THREADS=100", "THREADS=200"},
	"two_stage":     {"THREADS=3", "THREADS=10", "THREADS=30", "THREADS=100", "THREADS=200"},
	"chain":         {"DEPTH=1", "DEPTH=2", "DEPTH=3", "DEPTH=4", "DEPTH=5", "DEPTH=6"},
	"work_stealing": {"TASKS=2", "TASKS=4", "TASKS=8"},
	"reused_node":   {"THREADS=2", "THREADS=3", "THREADS=4"},
	"reused_link":   {"THREADS=2", "THREADS=3", "THREADS=4"},
	"claimed_stack": {"ROUNDS=2"},
}

// list returns the programs below dir, families last, or only those whose names begin with one of only.
func list(dir string, only []string) (programs []program, err error) {
	for _, pattern := range []string{"fail/*.c*", "families/fail/*.c"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			e, err := expect.Read(f)
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
			p := program{Name: name, Source: f, Flags: e.Flags, Expect: e}
			family := filepath.Base(filepath.Dir(filepath.Dir(f))) == "families"
			if !family {
				programs = append(programs, p)
				continue
			}
			if len(sizes[name]) == 0 {
				return nil, fmt.Errorf("%s: no sizes are given for the family: add them to sizes", f)
			}
			for _, size := range sizes[name] {
				q := p
				_, n, _ := strings.Cut(size, "=")
				q.Name, q.Flags = name+"-"+n, append(slices.Clone(p.Flags), "-D"+size)
				programs = append(programs, q)
			}
		}
	}
	if len(only) > 0 {
		programs = slices.DeleteFunc(programs, func(p program) bool {
			return !slices.ContainsFunc(only, func(prefix string) bool { return strings.HasPrefix(p.Name, prefix) })
		})
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no such programs in %s: run searchbench in the top directory of heddle's repository", dir)
	}
	return programs, nil
}

// build compiles the program in a directory of its own below dir, and returns its path.
func (p *program) build(ctx context.Context, heddle, dir string) (string, error) {
	dir = filepath.Join(dir, p.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "program")
	compiler := "cc"
	if filepath.Ext(p.Source) == ".cc" {
		compiler = "c++"
	}
	made := [][]string{append([]string{"-o", out}, p.Flags...)}
	if p.Expect.PlugIn != "" {
		made = append(made, []string{"-o", filepath.Join(dir, p.Expect.PlugIn), "-shared", "-fPIC", "-DPLUGIN"})
	}
	for _, flags := range made {
		args := slices.Concat([]string{compiler, "-g", "-O1", "-pthread"}, flags, []string{p.Source})
		if msg, err := exec.CommandContext(ctx, heddle, args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("heddle %s: %w\n%s", strings.Join(args, " "), err, msg)
		}
	}
	return out, nil
}
