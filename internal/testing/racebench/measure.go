package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// row is what a test expects and what was reported.
type row struct {
	Test     string   `json:"test"`
	Expected string   `json:"expected,omitempty"`
	Skipped  string   `json:"skipped,omitempty"`
	TSan     []string `json:"tsan,omitempty"`   // kinds of its reports
	Heddle   []string `json:"heddle,omitempty"` // "data race", and the kind of the finding
	Races    int      `json:"races,omitempty"`  // that heddle lists
}

// found reports whether kinds hold a race, or a use of freed memory.
func found(kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return isRace(k) || k == "misuse" })
}

// barrier is the tests' barrier, which orders nothing for a race detector. It is compiled without hooks.
const barrier = `
#include <sched.h>
void __tsan_testonly_barrier_init(unsigned *b, unsigned count) { *b = count << 16; }
void __tsan_testonly_barrier_wait(unsigned *b) {
  unsigned count = *b >> 16, round = (__atomic_fetch_add(b, 1, __ATOMIC_SEQ_CST) & 0xffff) / count;
  while ((__atomic_load_n(b, __ATOMIC_SEQ_CST) & 0xffff) / count == round) sched_yield();
}
`

// spawnTime bounds a compilation or an execution alone.
const spawnTime = time.Minute

type measurer struct {
	settings
	compilers bench.Compilers
	dir       string
	includes  []string
	barrier   string // object file
}

func newMeasurer(ctx context.Context, s settings, cs bench.Compilers, dir string) (*measurer, error) {
	m := &measurer{settings: s, compilers: cs, dir: dir, barrier: filepath.Join(dir, "barrier.o")}
	for _, d := range []string{".", "..", "../..", "../../lib", "../../include"} {
		m.includes = append(m.includes, "-I", filepath.Join(s.Tests, d))
	}
	source := filepath.Join(dir, "barrier.c")
	if err := os.WriteFile(source, []byte(barrier), 0o666); err != nil {
		return nil, err
	}
	return m, cs.Compile(ctx, cs.C, false, "-O1", "-c", source, "-o", m.barrier)
}

var reported = regexp.MustCompile(`WARNING: ThreadSanitizer: ([a-z][^(\n]*)`)

// measure builds and runs a test both ways.
func (m *measurer) measure(ctx context.Context, t *test) row {
	r := row{Test: t.Name, Expected: t.Expected, Skipped: t.Skipped}
	if r.Skipped != "" {
		return r
	}
	if err := m.try(ctx, t, &r); err != nil {
		r.Skipped = err.Error()
	}
	return r
}

func (m *measurer) try(ctx context.Context, t *test, r *row) error {
	dir := filepath.Join(m.dir, t.Name+".d")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	tsan, hooked := filepath.Join(dir, "tsan"), filepath.Join(dir, "hooked")
	compiler := m.compilers.C
	if t.CXX {
		compiler = m.compilers.CXX
	}
	args := slices.Concat([]string{"-g", "-w", "-D_GNU_SOURCE", "-pthread"}, t.Flags, m.includes, []string{filepath.Join(m.Tests, t.Name), "-ldl"})
	if err := m.compilers.Compile(ctx, compiler, false, append(slices.Clone(args), "-fsanitize=thread", "-o", tsan)...); err != nil {
		return fmt.Errorf("gcc does not compile it with ThreadSanitizer: %s", lastLine(err))
	}
	if err := m.compilers.Compile(ctx, compiler, true, append(slices.Clone(args), m.barrier, "-o", hooked)...); err != nil {
		return fmt.Errorf("heddle cc does not compile it: %s", lastLine(err))
	}
	for range max(1, m.Runs/40) {
		out, err := m.start(ctx, dir, tsan)
		for _, w := range reported.FindAllStringSubmatch(out, -1) {
			if kind := strings.TrimSpace(w[1]); !slices.Contains(r.TSan, kind) {
				r.TSan = append(r.TSan, kind)
			}
		}
		if len(r.TSan) > 0 || errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	out, err := m.start(ctx, dir, m.Heddle, "find", "--json", "--no-simplify", "--runs", strconv.Itoa(m.Runs), "--time", m.Time.String(), "--", hooked)
	var found result.Find
	if at := strings.Index(out, "{"); at < 0 || json.NewDecoder(strings.NewReader(out[at:])).Decode(&found) != nil {
		return fmt.Errorf("heddle does not run it: %s", reason(out, err))
	}
	if found.Executions == 0 {
		return errors.New("heddle finished no execution of it in time")
	}
	if r.Races = len(found.Races); r.Races > 0 {
		r.Heddle = append(r.Heddle, "data race")
	}
	if f := found.Finding; f != nil && !slices.Contains(r.Heddle, f.Kind) {
		r.Heddle = append(r.Heddle, f.Kind)
	}
	return nil
}

// start runs a program and returns all that it prints.
func (m *measurer) start(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Time+spawnTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(out), err
}

func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}

// reason is the first line of an output, or else the error.
func reason(out string, err error) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); line != "" {
		return strings.TrimPrefix(line, "heddle: ")
	}
	return fmt.Sprint(err)
}
