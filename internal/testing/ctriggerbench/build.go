package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/testing/expect"
	"github.com/heddle-dev/heddle/internal/toolchain"
)

// program is a program with an atomicity violation.
type program struct {
	Name   string
	Source string
	Flags  []string
}

// list returns the programs in dir, or only those named.
func list(dir string, only []string) (programs []program, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".c")
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		e, err := expect.Read(f)
		if err != nil {
			return nil, err
		}
		programs = append(programs, program{Name: name, Source: f, Flags: e.Flags})
	}
	for _, name := range only {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.Name == name }) {
			return nil, fmt.Errorf("no program %q in %s", name, dir)
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no programs in %s: run ctriggerbench in the top directory of heddle's repository", dir)
	}
	return programs, nil
}

// builder compiles programs with gcc and -O1 -g.
type builder struct {
	compilers bench.Compilers
	live      string // the library of the backend live
}

func newBuilder(ctx context.Context) (*builder, error) {
	cs, err := bench.FindCompilers(ctx)
	if err != nil {
		return nil, err
	}
	rt, err := toolchain.Build(ctx, toolchain.Options{Compiler: cs.C, Cache: cs.Cache, Source: heddle.LiveRuntime()})
	return &builder{compilers: cs, live: rt.Library}, err
}

// built is a program in its builds, ready for execution.
type built struct {
	name   string
	native *live.Program // without hooks, for Alone
	hooked *live.Program
	config cprog.Config // of the same file as hooked
}

// build compiles a program in a directory of its own below dir.
func (b *builder) build(ctx context.Context, s settings, p *program, dir string) (*built, error) {
	dir = filepath.Join(dir, p.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	native, hooked := filepath.Join(dir, "native"), filepath.Join(dir, "program")
	for _, made := range []struct {
		out     string
		wrapped bool
	}{{native, false}, {hooked, true}} {
		args := slices.Concat([]string{"-O1", "-g", "-pthread"}, p.Flags, []string{"-o", made.out, p.Source})
		if s.Correct {
			args = append(args, "-DCORRECT")
		}
		if err := b.compilers.Compile(ctx, b.compilers.C, made.wrapped, args...); err != nil {
			return nil, err
		}
	}
	return b.prepare(ctx, p.Name, native, hooked, dir, strconv.Itoa(s.Work))
}

// given prepares a program of which two builds exist. It runs in the current directory.
func (b *builder) given(ctx context.Context, name string, s *selection) (*built, error) {
	var files [2]string
	for i, f := range []string{s.native, s.hooked} {
		var err error
		if files[i], err = filepath.Abs(f); err != nil {
			return nil, err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return b.prepare(ctx, name, files[0], files[1], dir, s.args...)
}

// prepare takes two builds of a program that exist.
func (b *builder) prepare(ctx context.Context, name, native, hooked, dir string, args ...string) (*built, error) {
	out := &built{
		name:   name,
		native: live.New(live.Config{Path: native, Args: append([]string{native}, args...), Dir: dir, Env: os.Environ()}),
		config: cprog.Config{Path: hooked, Args: append([]string{hooked}, args...), Dir: dir, Runtime: b.compilers.Runtime.Library},
	}
	// A controlled execution says which libraries the program has.
	t, err := cprog.Start(ctx, out.config)
	if err != nil {
		return nil, err
	}
	out.hooked = live.New(live.Config{Path: hooked, Args: out.config.Args, Dir: dir, Env: os.Environ(), Library: b.live, Modules: t.Modules()})
	return out, t.Close()
}
