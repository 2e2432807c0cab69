// Package doctor checks whether a machine, and a program, can be used with heddle.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/uncontrolled"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Grade is the result of a check.
type Grade string

const (
	Good Grade = "ok"
	Poor Grade = "warn" // heddle works, with limitations
	Bad  Grade = "fail" // heddle does not work
)

// Check is one thing that heddle needs or can use.
type Check struct {
	Name   string `json:"name"`
	Grade  Grade  `json:"status"`
	Detail string `json:"detail"`           // what was found
	Advice string `json:"advice,omitempty"` // what it means and what to do; empty if nothing is wrong
}

// Config describes what to check.
type Config struct {
	Cache  string // as toolchain.CacheDir takes it
	GoTool string // the go command, empty for the one in PATH
	Dir    string // working directory of the go command
}

// Machine checks the compilers, the runtime, Go, the kernel and the processor.
func Machine(ctx context.Context, cfg Config) []Check {
	return append(append(toolchainChecks(ctx, cfg), goChecks(ctx, cfg)...), machineChecks()...)
}

// toolchainChecks check compilers, the cache and the runtime.
func toolchainChecks(ctx context.Context, cfg Config) []Check {
	var checks []Check
	cc, ccErr := toolchain.Find(ctx, toolchain.C)
	checks = append(checks, compilerCheck("C compiler", Bad, cc, ccErr))
	cxx, cxxErr := toolchain.Find(ctx, toolchain.CXX)
	checks = append(checks, compilerCheck("C++ compiler", Poor, cxx, cxxErr))

	cache, err := toolchain.CacheDir(cfg.Cache)
	if err != nil {
		return append(checks, Check{"cache", Bad, "none", err.Error()})
	}
	checks = append(checks, cacheCheck(cache))
	if ccErr == nil {
		checks = append(checks, runtimeCheck(ctx, cc, cache))
	}
	return checks
}

func compilerCheck(name string, missing Grade, c toolchain.Compiler, err error) Check {
	if err != nil {
		return Check{name, missing, "none that heddle can use", err.Error()}
	}
	return Check{Name: name, Grade: Good, Detail: fmt.Sprintf("%s: %s", strings.Join(c.Command, " "), c.Version)}
}

// cacheCheck checks whether files can be created in the cache. If not, its content may still be
// sufficient, which the runtime's check decides.
func cacheCheck(dir string) Check {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".doctor-"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return Check{"cache", Poor, dir + ": " + err.Error(), "No runtime can be built: make it writable, or set HEDDLE_CACHE to a directory that is."}
	}
	return Check{Name: "cache", Grade: Good, Detail: dir}
}

func runtimeCheck(ctx context.Context, cc toolchain.Compiler, cache string) Check {
	start := time.Now()
	rt, err := toolchain.Build(ctx, toolchain.Options{Compiler: cc, Cache: cache})
	if err != nil {
		return Check{"runtime", Bad, "cannot be built", err.Error()}
	}
	return Check{Name: "runtime", Grade: Good, Detail: fmt.Sprintf("%s (ready in %.1f s)", rt.Library, time.Since(start).Seconds())}
}

// goChecks check the support for Go programs. Without a Go installation heddle works for all
// others; without Go's race detector it loses only the detector's reports.
func goChecks(ctx context.Context, cfg Config) []Check {
	const name, reports = "Go", "Go race reports"
	tool, err := gotool.Find(ctx, cfg.GoTool, cfg.Dir)
	if err != nil {
		return []Check{{name, Poor, "none that heddle can use", err.Error()}}
	}
	found := fmt.Sprintf("%s: %s in %s", tool.Path, tool.Version, tool.Root)
	if err = tool.Supported(); err == nil {
		err = patch.Check(tool.Root, patch.Options{})
	}
	if err != nil {
		return []Check{{name, Poor, found, err.Error()}}
	}
	checks := []Check{{Name: name, Grade: Good, Detail: found}}
	if err = tool.RaceDetector(ctx); err == nil {
		err = patch.Check(tool.Root, patch.Options{Sanitizer: true})
	}
	if err != nil {
		return append(checks, Check{reports, Poor, "not available; only heddle replay --race-report needs them", err.Error()})
	}
	return append(checks, Check{Name: reports, Grade: Good, Detail: "available to heddle replay --race-report"})
}

// Program checks a program, given as the words of its command line; found is the program that they name.
func Program(words []string) (c Check, found *toolchain.Program) {
	const name = "program"
	path, err := launch.Executable(words)
	if err != nil {
		return Check{name, Bad, words[0], err.Error()}, nil
	}
	if gotool.Built(path) {
		return Check{name, Bad, path + " is a Go program", "Name its package or .go files, and heddle builds it: heddle find -- ./package."}, nil
	}
	program, err := toolchain.Inspect(path)
	if err != nil {
		return Check{name, Bad, path, err.Error()}, nil
	}
	if !program.Instrumented {
		return Check{name, Poor, path + " has no access hooks",
			"Only its synchronisation can be seen and scheduled: build it with heddle cc to see memory accesses."}, &program
	}
	if n := uncontrolled.AtomicsIn(path); n > 0 {
		return Check{name, Poor, fmt.Sprintf("%s has access hooks, but not at %s", path, wording.Count(n, "atomic instruction")),
			"heddle does not see what these do, and reports races of what they order: build the files with inline assembly, and static libraries, with heddle cc."}, &program
	}
	return Check{Name: name, Grade: Good, Detail: path + " has access hooks"}, &program
}

// symbolsNamed is how many functions of a library are named.
const symbolsNamed = 3

// Libraries checks the libraries that a program is linked with, directly or not: those that synchronise threads by means
// that access hooks do not see.
func Libraries(ctx context.Context, program *toolchain.Program) Check {
	const name = "libraries"
	all, err := program.Dependencies(ctx)
	if err != nil {
		return Check{name, Poor, err.Error(), "Whether a library orders threads in a way that heddle does not know is not checked."}
	}
	var known, unknown, idle []string
	for _, d := range all {
		switch {
		case d.Order == toolchain.Told:
			known = append(known, d.Name)
		case d.Order == toolchain.Unknown && len(d.Symbols) == 0:
			idle = append(idle, d.Name)
		case d.Order == toolchain.Unknown:
			unknown = append(unknown, called(&d))
		}
	}
	var details []string
	if len(unknown) > 0 {
		details = append(details, strings.Join(unknown, ", ")+": what orders threads there is not known")
	}
	if len(known) > 0 {
		details = append(details, strings.Join(known, ", ")+": what orders threads there is known")
	}
	if len(idle) > 0 {
		details = append(details, strings.Join(idle, ", ")+": linked, but no code refers to it")
	}
	if len(details) == 0 {
		details = []string{"none that synchronises threads by means of its own"}
	}
	c := Check{Name: name, Grade: Good, Detail: strings.Join(details, "; ")}
	if len(unknown) > 0 {
		c.Grade, c.Advice = Poor, "A data race whose accesses such a library may have ordered is unconfirmed. Build the library with access hooks (CC='heddle cc', CXX='heddle c++'), and heddle sees what it orders."
	}
	return c
}

// called names a library and what calls it.
func called(d *toolchain.Dependency) string {
	if d.By != "" {
		return fmt.Sprintf("%s (called by %s)", d.Name, d.By)
	}
	var names []string
	for _, s := range d.Symbols[:min(len(d.Symbols), symbolsNamed)] {
		names = append(names, cxxname.Readable(s))
	}
	if more := len(d.Symbols) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s (%s)", d.Name, strings.Join(names, ", "))
}
