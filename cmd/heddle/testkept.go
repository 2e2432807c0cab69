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

	"github.com/heddle-dev/heddle/internal/campaign"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// kept are the findings of one test, in files of the package, as Go's fuzzing keeps its
// corpus: testdata/heddle/TestName/0123456789abcdef.hdl. The directories of a subtest are
// below those of its test.
type kept struct {
	dir      string
	fallback string // where the package cannot be written to: in the module cache, say
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
		dir:      filepath.Join(u.pkg.Dir, "testdata", "heddle", name),
		fallback: filepath.Join(cache, "findings", filepath.FromSlash(url.PathEscape(u.pkg.ImportPath)), name),
	}
}

// files are the traces that are kept, by name.
func (k kept) files() (names []string) {
	for _, dir := range []string{k.dir, k.fallback} {
		// The directory's name may have characters that mean something in a pattern.
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".hdl") {
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// keep writes a finding and returns where. The same schedule has the same name.
func (k kept) keep(tr *trace.Trace) (string, error) {
	sum := sha256.Sum256([]byte(tr.Ending.Kind.String() + schedule.Format(schedule.ScriptOf(tr), tr.Threads)))
	name := hex.EncodeToString(sum[:8]) + ".hdl"
	var first error
	for _, dir := range []string{k.dir, k.fallback} {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = trace.WriteFile(filepath.Join(dir, name), tr)
		}
		if err == nil {
			return filepath.Join(dir, name), nil
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("what was found cannot be kept: %w", first)
}

// retry runs the kept schedules of a test. One that fails again is the finding. fixed are
// those that do not.
func (s *suite) retry(t *built, k kept, u unit, out *testResult) (again bool, fixed []string, err error) {
	for _, name := range k.files() {
		tr, err := readTrace(name)
		if err != nil {
			// A version of heddle that is to come may have written it.
			out.note("not tried: %v", err)
			continue
		}
		if !s.command.concerns(tr, u.run) {
			continue
		}
		met, changed, err := s.app.follow(t, tr)
		switch {
		case errors.Is(err, trace.ErrPoints):
			out.note("not tried: %s: %v", s.short(name), err)
			continue
		case err != nil:
			return false, nil, err
		}
		out.Executions++
		if !met.Ending.Kind.Failed() {
			fixed = append(fixed, name)
			continue
		}
		if changed {
			out.note("%s was recorded of another build: its schedule was followed as far as it goes", s.short(name))
		}
		out.Outcome, out.Trace, out.shown, out.again = "found", s.short(name), met, true
		out.Finding = findingOf(met, t)
		out.Known, out.Changed = true, changed
		return true, nil, nil
	}
	return false, fixed, nil
}

// concerns reports whether a kept trace is of what is run now, and its failure one that
// counts now. Another build does not matter.
func (c *testCommand) concerns(tr *trace.Trace, run string) bool {
	recorded, err := parseRecorded(tr.Header.Command)
	if err != nil || tr.Ending.Kind == trace.Race && !c.Race || tr.Ending.Kind == trace.Leak && c.NoLeaks {
		return false
	}
	r := &recorded.Test
	return r.Pattern == run && r.Parallel == c.Parallel && slices.Equal(r.binaryArgs(), c.binaryArgs())
}

// follow runs the schedule of a trace: exactly, if the program is the same, and otherwise
// as closely as the program lets it.
func (a *app) follow(t target.Target, tr *trace.Trace) (met *trace.Trace, changed bool, err error) {
	relocate(tr, t.Modules())
	met, err = campaign.Replay(a.ctx, t, tr)
	var other *campaign.OtherProgramError
	var diverged *campaign.DivergedError
	switch {
	case err == nil:
		return met, false, nil
	case errors.As(err, &other), errors.As(err, &diverged):
		met, err = campaign.Follow(a.ctx, t, tr)
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
