package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/expect"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/trace"
)

// expectation is the comment at the head of a program in testdata/programs.
type expectation struct {
	name        string
	source      string
	kind        string
	finding     string
	minimum     bool
	switches    int
	preemptions int      // -1: not stated
	flags       []string // of the compiler
	args        []string // of the program
	options     []string // of heddle find
	isolation   string   // the trace's, empty for a snapshot
	few         bool     // executions take long
	plugin      string   // the library that is made of the same source and lies beside the program
	note        string   // that heddle find prints, in part
	partly      bool     // to simplify it to the end takes longer than a test may
}

func readExpectation(t testing.TB, file string) expectation {
	t.Helper()
	p, err := expect.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	e := expectation{
		name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), source: file,
		kind: trace.Clean.String(), finding: p.Finding,
		minimum: p.Switches >= 0, switches: p.Switches, preemptions: p.Preemptions,
		flags: p.Flags, args: p.Args, options: p.Options, isolation: p.Isolation, plugin: p.PlugIn, note: p.Note, partly: p.Partly, few: p.Few,
	}
	if !p.Clean() {
		e.kind = p.Kinds[0].String()
	}
	return e
}

// find is the command line that looks for the program's bug.
func (e *expectation) find(prog string, more ...string) []string {
	return slices.Concat([]string{"find", "--json"}, more, e.options, []string{"--", prog}, e.args)
}

// expectations are those of the programs in fail or pass, and of those that compute.
func expectations(t testing.TB, dir string) []expectation {
	t.Helper()
	var all []expectation
	for _, pattern := range []string{dir + "/*.c", dir + "/*.cc", "compute/" + dir + "/*.c", "compute/" + dir + "/*.cc"} {
		files, err := filepath.Glob(filepath.Join(repository(t), "testdata/programs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all = append(all, readExpectation(t, f))
		}
	}
	if len(all) < 24 {
		t.Fatalf("only %d programs in %s", len(all), dir)
	}
	slices.SortFunc(all, func(a, b expectation) int { return strings.Compare(a.name, b.name) })
	return all
}

// sharedRuntime is the runtime's library.
func sharedRuntime(t testing.TB) string {
	t.Helper()
	rt, err := runtimecache.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rt.Library
}

func heddleCommand(t testing.TB, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	heddle, err := exec.LookPath("heddle")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := runtimecache.Dir()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), heddle, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "HEDDLE_CACHE="+cache), env...)
	return cmd
}

// compileProgram builds a program with heddle cc or heddle c++.
func compileProgram(t testing.TB, e expectation, compiler, opt, out string) {
	t.Helper()
	command, env := "cc", "HEDDLE_CC="+compiler
	if filepath.Ext(e.source) == ".cc" {
		command, env = "c++", "HEDDLE_CXX="+strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(compiler)
	}
	need.Tool(t, strings.TrimPrefix(strings.TrimPrefix(env, "HEDDLE_CC="), "HEDDLE_CXX="))
	made := [][]string{append([]string{"-o", out}, e.flags...)}
	if e.plugin != "" {
		made = append(made, []string{"-o", filepath.Join(filepath.Dir(out), e.plugin), "-shared", "-fPIC", "-DPLUGIN"})
	}
	for _, flags := range made {
		args := append([]string{command, "-g", opt, "-pthread"}, flags...)
		cmd := heddleCommand(t, filepath.Dir(out), []string{env}, append(args, e.source)...)
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, b)
		}
	}
}

// runJSON runs heddle and decodes what it prints. Standard output must be one JSON value
// and nothing else.
func runJSON[T any](t *testing.T, dir string, wantStatus int, args ...string) T {
	t.Helper()
	out, _ := runJSONPeak[T](t, dir, wantStatus, args...)
	return out
}

// runJSONPeak is runJSON, and returns the peak memory as peakMB does.
func runJSONPeak[T any](t *testing.T, dir string, wantStatus int, args ...string) (out T, mb int64) {
	t.Helper()
	cmd := heddleCommand(t, dir, nil, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if status != wantStatus {
		t.Fatalf("%v: exit status %d, want %d\n%s%s", args, status, wantStatus, b, stderr.String())
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%v: standard output is not one JSON value: %v\n%s", args, err, b)
	}
	return out, peakMB(cmd)
}

// compilers are those that the programs are tested with.
var compilers = []struct{ name, opt string }{{"gcc", "-O1"}, {"clang", "-O2"}}

// Every failing program is found by plain heddle find, as the failure it states, is
// simplified to the minimum it states, and replays identically (make whole: a thousand times). Neighbours in the folder have different compilers;
// make whole has each program with all.
func TestFailingPrograms(t *testing.T) {
	for i, c := range compilers {
		for k, e := range expectations(t, "fail") {
			if k%len(compilers) != need.Amount(i, k%len(compilers)) {
				continue
			}
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				prog := filepath.Join(dir, e.name)
				compileProgram(t, e, c.name, c.opt, prog)
				simplify := "0"
				if e.partly {
					simplify = "5s"
				}
				how := []string{"--time", "60s", "--simplify-time", simplify}
				if k%8 != need.Amount(0, k%8) { // an explanation takes longer than all the rest, and TestExplain is about these
					how = append(how, "--no-explain")
				}
				out := runJSON[findJSON](t, dir, exitFound, e.find(prog, how...)...)
				if out.Outcome != "found" || out.Finding == nil || out.Simplified == nil {
					t.Fatalf("incomplete result: %+v", out)
				}
				f := out.Finding
				if !f.Confirmed || !e.partly && (out.Simplified.Cut || !out.Simplified.Confirmed) {
					t.Errorf("not confirmed, or not simplified to the end: %+v %+v", f, out.Simplified)
				}
				if f.Kind != e.kind {
					t.Errorf("kind %q, want %q: %s", f.Kind, e.kind, f.Message)
				}
				if e.finding != "" && !strings.Contains(f.Message+" "+f.Where, e.finding) {
					t.Errorf("finding %q at %q does not mention %q", f.Message, f.Where, e.finding)
				}
				noted := e.note == ""
				for _, n := range out.Notes {
					if e.note != "" && strings.Contains(n, e.note) {
						noted = true
						continue
					}
					t.Errorf("note: %s", n)
				}
				if !noted {
					t.Errorf("no note says %q", e.note)
				}
				s := out.Simplified
				found, err := trace.ReadFile(filepath.Join(dir, out.Trace))
				if err != nil {
					t.Fatal(err)
				}
				simple, err := trace.ReadFile(filepath.Join(dir, s.Trace))
				if err != nil {
					t.Fatal(err)
				}
				for _, tr := range []*trace.Trace{found, simple} {
					if tr.Header.Isolation != e.isolation {
						t.Errorf("isolation %q, want %q", tr.Header.Isolation, e.isolation)
					}
					if err := trace.Validate(tr); err != nil {
						t.Error(err)
					}
				}
				notWorse(t, found, simple)
				// The argument for a minimum holds for what the source says; an
				// optimiser may merge accesses, so no execution may have fewer.
				if e.minimum && (s.Switches != e.switches || e.preemptions >= 0 && s.Preemptions != e.preemptions) {
					t.Errorf("simplified to %d switches, %d preemptions; stated minimum %d, %d", s.Switches, s.Preemptions, e.switches, e.preemptions)
				}
				replays := need.Amount(200, 1000)
				if c.name != "gcc" || len(found.Events) > 2000 {
					replays = need.Amount(50, 100) // a hang: thousands of events each
				}
				if len(found.Threads) > 1000 {
					replays = 10
				}
				for _, file := range []string{out.Trace, s.Trace} {
					r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", fmt.Sprint(replays), file)
					if !r.Same || r.Outcome != "found" {
						t.Errorf("replay of %s: %+v", file, r)
					}
					testScheduleString(t, dir, file, e, prog)
				}
			})
		}
	}
}

// notWorse checks that a simplified execution costs no more than the one that was found. Its trace may have more events: those of accesses
// that its explanation names, which are scheduling points then.
func notWorse(t *testing.T, found, simple *trace.Trace) {
	t.Helper()
	b, a := trace.CostOf(found.Events), trace.CostOf(simple.Events)
	if len(simple.Header.Points) > len(found.Header.Points) {
		a.Events = min(a.Events, b.Events)
	}
	if a.Compare(b) > 0 {
		t.Errorf("simplified from %+v to %+v", b, a)
	}
}

// What a program's options allow is not looked for without them.
func TestOptionsAreNeeded(t *testing.T) {
	n := 0
	for _, e := range expectations(t, "fail") {
		if len(e.options) == 0 {
			continue
		}
		n++
		dir := t.TempDir()
		prog := filepath.Join(dir, e.name)
		compileProgram(t, e, "gcc", "-O1", prog)
		e.options = nil
		if out := runJSON[findJSON](t, dir, exitNothing, e.find(prog, "--time", "0", "--runs", "5000")...); out.Outcome != "clean" {
			t.Errorf("%s without its options: %+v", e.name, out)
		}
	}
	if n == 0 {
		t.Error("no program has options")
	}
}

// Every correct twin is clean for 20,000 executions (make whole), or fewer if they are expensive. Neighbours in the folder have different
// compilers; make whole has each program with all.
func TestPassingPrograms(t *testing.T) {
	for i, c := range compilers {
		for k, e := range expectations(t, "pass") {
			if k%len(compilers) != need.Amount(i, k%len(compilers)) {
				continue
			}
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				prog := filepath.Join(dir, e.name)
				compileProgram(t, e, c.name, c.opt, prog)
				runs := need.Amount(5000, 20000)
				if c.name != "gcc" {
					runs = need.Amount(1000, 2000)
				}
				if e.isolation != "" {
					runs /= 20 // each is a process
				}
				if e.plugin != "" {
					runs /= 5 // each loads it
				}
				if e.few {
					runs /= 100
				}
				out := runJSON[findJSON](t, dir, exitNothing, e.find(prog, "--time", "0", "--runs", fmt.Sprint(runs))...)
				if out.Outcome != "clean" || out.Executions != runs && out.Ended != "sequential" {
					t.Errorf("%+v", out)
				}
				for _, n := range out.Notes {
					// On a busy machine a child process may be slow.
					if e.isolation == "" || !strings.Contains(n, "depended on external nondeterminism") {
						t.Errorf("note: %s", n)
					}
				}
			})
		}
	}
}

// The same seed and the same build give the same first finding.
func TestSameSeedSameFinding(t *testing.T) {
	dir := t.TempDir()
	e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/fail/two_stage_access.c"))
	prog := filepath.Join(dir, e.name)
	compileProgram(t, e, "gcc", "-O1", prog)
	var first []byte
	seen := map[int]bool{}
	for _, seed := range []string{"7", "7", "7", "8", "9"} {
		out := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--seed", seed, "-o", "s.hdl", "--", prog)
		tr, err := trace.ReadFile(filepath.Join(dir, out.Trace))
		if err != nil {
			t.Fatal(err)
		}
		text, err := trace.MarshalText(tr)
		if err != nil {
			t.Fatal(err)
		}
		seen[out.Finding.Execution] = true
		switch {
		case first == nil:
			first = text
		case seed == "7" && string(first) != string(text):
			t.Errorf("seed 7 found another execution the second time:\n%s\n%s", first, text)
		}
	}
	if len(seen) == 1 {
		t.Log("all seeds found it in the same execution")
	}
}
