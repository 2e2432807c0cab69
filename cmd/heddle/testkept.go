package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// keptDir is the directory of a package in which findings are kept. The go command, go vet
// and go:embed of a directory pass over names that begin with an underscore, as over those
// that begin with a dot; but a dot also hides a file from people, from the default of
// actions/upload-artifact, and from Git where the user ignores such names. It must not be
// in testdata, which tests of some packages walk.
const keptDir = "_heddle"

// oldKeptDir is where earlier versions kept findings, in the package.
var oldKeptDir = filepath.Join("testdata", "heddle")

// kept are the findings of one test, in files of the package: _heddle/TestName/0123456789abcdef.hdl.
// The directories of a subtest are below those of its test.
type kept struct {
	dir      string
	old      string // of earlier versions
	fallback string // where the package cannot be written to: in the module cache, say
	pkg      string // the package's directory
}

func keptOf(cache string, u unit) kept {
	levels := strings.Split(u.name, "/")
	for i, l := range levels {
		levels[i] = url.PathEscape(l)
		if l == "." || l == ".." {
			levels[i] = "%2E" + l[1:]
		}
	}
	name := filepath.Join(levels...)
	return kept{
		dir:      filepath.Join(u.pkg.Dir, keptDir, name),
		old:      filepath.Join(u.pkg.Dir, oldKeptDir, name),
		fallback: filepath.Join(cache, "findings", filepath.FromSlash(url.PathEscape(u.pkg.ImportPath)), name),
		pkg:      u.pkg.Dir,
	}
}

// files are the traces that are kept, by name. One that lies in two places counts once.
func (k kept) files() (names []string) {
	met := map[string]bool{}
	for _, dir := range []string{k.dir, k.old, k.fallback} {
		// The directory's name may have characters that mean something in a pattern.
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".hdl") && !met[e.Name()] {
				met[e.Name()] = true
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// keep writes a finding and returns where. The same schedule has the same name. What earlier
// versions kept elsewhere in the package moves with it, which the note says.
func (k kept) keep(tr *trace.Trace) (name, note string, err error) {
	sum := sha256.Sum256([]byte(tr.Ending.Kind.String() + schedule.Format(schedule.ScriptOf(tr), tr.Threads)))
	base := hex.EncodeToString(sum[:8]) + ".hdl"
	var first error
	for _, dir := range []string{k.dir, k.fallback} {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = trace.WriteFile(filepath.Join(dir, base), tr)
		}
		if err == nil {
			if dir == k.dir {
				note = moveKept(k.pkg)
			}
			return filepath.Join(dir, base), note, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", "", fmt.Errorf("the finding cannot be kept: %w", first)
}

// again is the result of the kept schedules of a test: the worst failure among them, and those
// that do not fail any more.
type again struct {
	name    string // file of the failure, empty if none exists
	met     *trace.Trace
	changed bool // it was recorded of another build
	fixed   []string
}

func (g *again) finding() bool { return g.name != "" }

func (g *again) leak() bool { return g.finding() && g.met.Ending.Kind == trace.Leak }

// retry runs the kept schedules of a test, the worst failures first, until one fails by more
// than a leak.
func (s *suite) retry(t *built, k kept, u unit, out *testResult) (g again, err error) {
	type recorded struct {
		name string
		tr   *trace.Trace
	}
	var all []recorded
	for _, name := range k.files() {
		tr, err := readTrace(name)
		if err != nil {
			// A version of heddle that is to come may have written it.
			out.note("not tried: %v", err)
			continue
		}
		if s.command.concerns(tr, u.run) {
			all = append(all, recorded{name, tr})
		}
	}
	slices.SortStableFunc(all, func(a, b recorded) int {
		return finding.Severity(a.tr.Ending.Kind) - finding.Severity(b.tr.Ending.Kind)
	})
	for _, r := range all {
		met, changed, err := s.app.follow(t, r.tr)
		switch {
		case errors.Is(err, trace.ErrPoints):
			out.note("not tried: %s: %v", s.short(r.name), err)
			continue
		case err != nil:
			return g, err
		}
		out.Executions++
		switch kind := met.Ending.Kind; {
		case !kind.Failed(), kind == trace.Leak && s.command.leaks() != leaksFail:
			g.fixed = append(g.fixed, r.name)
		case !g.finding() || g.leak() && kind != trace.Leak:
			g.name, g.met, g.changed = r.name, met, changed
		}
		if g.finding() && !g.leak() {
			break
		}
	}
	return g, nil
}

// takeKept makes the failure of a kept schedule the finding, if there is one.
func (out *testResult) takeKept(s *suite, t *built, g again) {
	if !g.finding() {
		return
	}
	if g.changed {
		out.note("%s was recorded of another build: its schedule was followed as far as it goes", s.short(g.name))
	}
	out.Outcome, out.Trace, out.shown = "found", s.short(g.name), g.met
	out.Finding = findingOf(g.met, t)
	out.Known, out.Changed = true, g.changed
}

// concerns reports whether a kept trace is of what is run now, and its failure one that
// counts now. Another build does not matter.
func (c *testCommand) concerns(tr *trace.Trace, run string) bool {
	recorded, err := parseRecorded(tr.Header.Command)
	if err != nil || tr.Ending.Kind == trace.Race && !c.Race || tr.Ending.Kind == trace.Leak && c.leaks() != leaksFail {
		return false
	}
	r := &recorded.Test
	return r.Pattern == run && r.Parallel == c.Parallel && slices.Equal(r.binaryArgs(), c.binaryArgs())
}

// follow runs the schedule of a trace: exactly, if the program is the same, and otherwise
// as closely as the program lets it.
func (a *app) follow(t target.Target, tr *trace.Trace) (met *trace.Trace, changed bool, err error) {
	relocate(tr, t.Modules())
	met, err = engine.Replay(a.ctx, t, tr)
	var other *engine.OtherProgramError
	var diverged *engine.DivergedError
	switch {
	case err == nil:
		return met, false, nil
	case errors.As(err, &other), errors.As(err, &diverged):
		met, err = engine.Follow(a.ctx, t, tr, placeNames(t))
		return met, true, err
	}
	return nil, false, err
}

// settle says which kept findings are no more, after a search without a result.
func (s *suite) settle(fixed []string, out *testResult) error {
	for _, name := range fixed {
		out.Fixed = append(out.Fixed, s.short(name))
		if s.command.Prune {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (out *testResult) note(format string, args ...any) {
	out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
}
