package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/toolchain"
)

type doctorCommand struct {
	Program program `arg:"" optional:"" passthrough:"partial" help:"A program to check, too."`
}

func (doctorCommand) Help() string {
	return "Builds the runtime if it is not in the cache. Ends with status 0 if nothing is in the way, 3 if something is."
}

// grade is how a check came out.
type grade string

const (
	good grade = "ok"
	poor grade = "warn" // heddle works, with less
	bad  grade = "fail" // heddle does not work
)

// check is one thing that heddle needs or can use.
type check struct {
	Name   string `json:"name"`
	Grade  grade  `json:"status"`
	Detail string `json:"detail"`           // what was found
	Advice string `json:"advice,omitempty"` // what it means and what to do, unless all is well
}

// diagnosis is what doctor prints.
type diagnosis struct {
	OK      bool               `json:"ok"`
	Version versionInfo        `json:"heddle"`
	Checks  []check            `json:"checks"`
	Program *toolchain.Program `json:"program,omitempty"`
}

func (d *doctorCommand) Run(a *app) error {
	checks := append(append(toolchainChecks(a), goChecks(a)...), machineChecks()...)
	diag := diagnosis{Version: currentVersion()}
	if len(d.Program.words()) > 0 {
		var c check
		c, diag.Program = programCheck(d.Program)
		checks = append(checks, c)
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	diag.Checks = checks
	var failed []string
	for _, c := range checks {
		if c.Grade == bad {
			failed = append(failed, c.Name)
		}
	}
	diag.OK = len(failed) == 0
	if err := a.printDiagnosis(diag); err != nil {
		return err
	}
	if !diag.OK {
		return fmt.Errorf("not ready: %s; see the advice above", strings.Join(failed, ", "))
	}
	return nil
}

func (a *app) printDiagnosis(d diagnosis) error {
	if a.JSON {
		return a.printJSON(d)
	}
	var b strings.Builder
	width := 0
	for _, c := range d.Checks {
		width = max(width, len(c.Name))
	}
	for _, c := range d.Checks {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", c.Grade, width, c.Name, c.Detail)
		if c.Advice != "" {
			indent := strings.Repeat(" ", len("warn")+2+width+2)
			b.WriteString(indent + strings.ReplaceAll(c.Advice, "\n", "\n"+indent) + "\n")
		}
	}
	_, err := a.stdout.Write([]byte(b.String()))
	return err
}

// toolchainChecks are about compilers, the cache and the runtime.
func toolchainChecks(a *app) []check {
	var checks []check
	cc, ccErr := toolchain.Find(a.ctx, toolchain.C)
	checks = append(checks, compilerCheck("C compiler", bad, cc, ccErr))
	cxx, cxxErr := toolchain.Find(a.ctx, toolchain.CXX)
	checks = append(checks, compilerCheck("C++ compiler", poor, cxx, cxxErr))

	cache, err := toolchain.CacheDir(a.Cache)
	if err != nil {
		return append(checks, check{"cache", bad, "none", err.Error()})
	}
	checks = append(checks, cacheCheck(cache))
	if ccErr == nil {
		checks = append(checks, runtimeCheck(a.ctx, cc, cache))
	}
	return checks
}

func compilerCheck(name string, missing grade, c toolchain.Compiler, err error) check {
	if err != nil {
		return check{name, missing, "none that heddle can use", err.Error()}
	}
	return check{Name: name, Grade: good, Detail: fmt.Sprintf("%s: %s", strings.Join(c.Command, " "), c.Version)}
}

// cacheCheck sees whether files can be made in the cache. If not, what is there already
// may still be enough, so the runtime has the last word.
func cacheCheck(dir string) check {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".doctor-"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return check{"cache", poor, dir + ": " + err.Error(), "No runtime can be built: make it writable, or set HEDDLE_CACHE to a directory that is."}
	}
	return check{Name: "cache", Grade: good, Detail: dir}
}

func runtimeCheck(ctx context.Context, cc toolchain.Compiler, cache string) check {
	start := time.Now()
	rt, err := toolchain.Build(ctx, toolchain.Options{Compiler: cc, Cache: cache})
	if err != nil {
		return check{"runtime", bad, "cannot be built", err.Error()}
	}
	return check{Name: "runtime", Grade: good, Detail: fmt.Sprintf("%s (%d ms)", rt.Library, time.Since(start).Milliseconds())}
}

// goChecks are about Go programs. Without a Go installation heddle works for all others,
// and without its race detector it finds all that it finds with.
func goChecks(a *app) []check {
	const name, reports = "Go", "Go race reports"
	dir, err := workingDir()
	if err != nil {
		return []check{{name, poor, "unknown", err.Error()}}
	}
	tool, err := gotool.Find(a.ctx, a.Go, dir)
	if err != nil {
		return []check{{name, poor, "none that heddle can use", err.Error()}}
	}
	found := fmt.Sprintf("%s: %s in %s", tool.Path, tool.Version, tool.Root)
	if err = tool.Supported(); err == nil {
		err = patch.Check(tool.Root, patch.Options{})
	}
	if err != nil {
		return []check{{name, poor, found, err.Error()}}
	}
	checks := []check{{Name: name, Grade: good, Detail: found}}
	if err = tool.RaceDetector(a.ctx); err == nil {
		err = patch.Check(tool.Root, patch.Options{Sanitizer: true})
	}
	if err != nil {
		return append(checks, check{reports, poor, "not to be had, which only heddle replay --race-report needs", err.Error()})
	}
	return append(checks, check{Name: reports, Grade: good, Detail: "heddle replay --race-report"})
}

func programCheck(p program) (check, *toolchain.Program) {
	const name = "program"
	path, err := p.path()
	if err != nil {
		return check{name, bad, p.words()[0], err.Error()}, nil
	}
	if isGo(path) {
		return check{name, bad, path + " is a Go program", "Name its package or .go files, and heddle builds it: heddle find -- ./package."}, nil
	}
	found, err := toolchain.Inspect(path)
	if err != nil {
		return check{name, bad, path, err.Error()}, nil
	}
	if !found.Instrumented {
		return check{name, poor, path + " has no access hooks",
			"Only its synchronisation can be seen and scheduled: build it with heddle cc to see memory accesses."}, &found
	}
	return check{Name: name, Grade: good, Detail: path + " has access hooks"}, &found
}
