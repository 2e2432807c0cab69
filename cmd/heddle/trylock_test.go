package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
)

// markedLine returns the number of the line of a source file that ends in a comment.
func markedLine(t *testing.T, source, comment string) int {
	t.Helper()
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if strings.HasSuffix(line, "// "+comment) {
			return i + 1
		}
	}
	t.Fatalf("%s has no line marked %q", source, comment)
	return 0
}

// A lock cures a failure, or does not, or deadlocks; the trace of the failure that is left has the lock and
// can be replayed.
func TestExplainTryLock(t *testing.T) {
	const gone, fails, deadlocks = "gone", "fails", "deadlocks"
	type lock struct{ name, from, to string }
	for _, test := range []struct {
		source string
		locks  []lock
		want   string
		text   string
	}{
		{"lost_update.c", []lock{{"mu", "begin", "end"}}, gone, "complete: no execution fails"},
		{"lost_update.c", []lock{{"another", "begin", "end"}}, gone, "with another (a lock of its own; the program has a mutex mu) held at lost_update.c:"},
		{"lost_update.c", []lock{{"mu", "begin", "audited"}}, gone, "complete: no execution fails"}, // the program acquires mu in the range
		{"lost_update.c", []lock{{"mu", "begin", "audit"}}, gone, "complete: no execution fails"},   // and keeps it behind the range
		{"lost_update.c", []lock{{"mu", "begin", "begin"}}, fails, "it still fails, near the recorded schedule: "},
		{"lost_update.c", []lock{{"mu", "amount", "amount"}}, fails, "it still fails, under the recorded schedule: "},
		{"lost_update.c", []lock{{"mu", "begin", "begin"}, {"mu", "end", "end"}}, fails, "it still fails, "},
		{"cycle.c", []lock{{"gate", "forward begins", "forward ends"}, {"gate", "backward begins", "backward ends"}}, gone, "complete: no execution fails"},
		{"cycle.c", []lock{{"gate", "forward begins", "forward ends"}, {"door", "backward begins", "backward ends"}}, fails, "it still fails"},
		{"cycle.c", []lock{{"gate", "forward begins", "forward ends"}}, fails, "it still fails"},
		{"deadlocks.c", []lock{{"m", "count", "count"}}, gone, "complete: no execution fails"},
		{"deadlocks.c", []lock{{"m", "begin", "begin"}}, gone, "complete: no execution fails"}, // a call, made with the lock held
		{"deadlocks.c", []lock{{"m", "begin", "end"}}, deadlocks, "it deadlocks, under the recorded schedule: "},
		{"condition.c", []lock{{"queue.mutex", "begin", "end"}}, gone, "no failure in"},
		{"condition.c", []lock{{"other", "begin", "end"}}, fails, "it still fails"}, // the wait does not release it
	} {
		for _, build := range [][2]string{{"gcc", "-O1"}, {"clang", "-O0"}} {
			name := fmt.Sprintf("%s %s %v", build[0], test.source, test.locks)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				e := expectation{source: filepath.Join(repository(t), "testdata/trylock", test.source)}
				prog := filepath.Join(dir, "prog")
				compileProgram(t, e, build[0], build[1], prog)
				var found findJSON
				if status := jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--races=ignore", "--simplify-time=2s", "-o", "bug.hdl", "--", prog), &found); status != exitFound {
					t.Fatalf("without a lock, find ended with %d", status)
				}
				args := []string{"explain", "--json"}
				for _, l := range test.locks {
					args = append(args, fmt.Sprintf("--try-lock=%s@%s:%d-%d", l.name, test.source, markedLine(t, e.source, l.from), markedLine(t, e.source, l.to)))
				}
				var out triedJSON
				status := jsonOf(t, heddleCommand(t, dir, nil, append(args, "bug.hdl")...), &out)
				if !strings.Contains(out.Text, test.text) {
					t.Errorf("got %q, want %q", out.Text, test.text)
				}
				for _, l := range out.Locks {
					if l.Times == 0 {
						t.Errorf("%s was never taken", l.Range)
					}
				}
				if test.want == gone {
					if status != exitNothing || out.Outcome != result.Clean || out.Finding != nil || out.Checked.Executions < 2 || out.Checked.Neighbours == 0 {
						t.Errorf("status %d: %+v", status, out)
					}
					return
				}
				if status != exitFound || out.Outcome != result.Found || out.Finding == nil || out.Finding.Same != (test.want == fails) {
					t.Fatalf("status %d: %+v", status, out)
				}
				var again replayJSON
				if s := jsonOf(t, heddleCommand(t, dir, nil, "replay", "--json", out.Finding.Trace), &again); s != exitFound || !again.Same {
					t.Errorf("the replay ended with %d: %+v", s, again)
				}
				shown, err := heddleCommand(t, dir, nil, "show", out.Finding.Trace).Output()
				if err != nil || !strings.Contains(string(shown), "as if locked: "+test.locks[0].name+"@") || test.want == deadlocks && !strings.Contains(string(shown), "waits for m held by") {
					t.Errorf("show: %v\n%s", err, shown)
				}
			})
		}
	}
}

// However a thread leaves the lines, it has released the lock then: otherwise another would never return.
func TestTriedLockIsReleased(t *testing.T) {
	for _, build := range [][2]string{{"gcc", "-O0"}, {"gcc", "-O2"}, {"clang", "-O1"}} {
		t.Run(build[0]+build[1], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := expectation{source: filepath.Join(repository(t), "testdata/trylock/activations.c")}
			prog := filepath.Join(dir, "prog")
			compileProgram(t, e, build[0], build[1], prog)
			for _, mark := range []string{"recursion", "exit", "long jump", "return"} {
				spec := fmt.Sprintf("fresh@activations.c:%d", markedLine(t, e.source, mark))
				for _, isolation := range []string{"snapshot", "fork"} {
					var r findJSON
					status := jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--races=ignore", "--runs=300", "--isolation="+isolation, "--try-lock="+spec, "--", prog), &r)
					if status != exitNothing || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "fresh, a lock of its own, was held at activations.c:") {
						t.Errorf("%s at %q, %s: status %d, %+v", spec, mark, isolation, status, r)
					}
				}
			}
		})
	}
}

// Lines of which the program holds the same mutex in a part, once or twice, can begin and end anywhere.
func TestTriedLockNests(t *testing.T) {
	dir := t.TempDir()
	e := expectation{source: filepath.Join(repository(t), "testdata/trylock/recursive.c")}
	prog := filepath.Join(dir, "prog")
	compileProgram(t, e, "gcc", "-O1", prog)
	first, last := markedLine(t, e.source, "first"), markedLine(t, e.source, "last")
	for from := first; from <= last; from++ {
		for to := from; to <= last; to++ {
			var r findJSON
			spec := fmt.Sprintf("mu@recursive.c:%d-%d", from, to)
			if status := jsonOf(t, heddleCommand(t, dir, nil, "find", "--json", "--races=fail", "--runs=30", "--try-lock="+spec, "--", prog), &r); status != exitNothing || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "was held at") {
				t.Errorf("%s: status %d, %+v", spec, status, r)
			}
		}
	}
}

// A lock that cannot be tried is an error that says what to do.
func TestTryLockRefuses(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(repository(t), "testdata/trylock/lost_update.c")
	prog := filepath.Join(dir, "prog")
	compileProgram(t, expectation{source: source}, "gcc", "-O1", prog)
	if err := heddleCommand(t, dir, nil, "find", "--races=ignore", "-o", "bug.hdl", "--", prog).Run(); err == nil {
		t.Fatal("no failure")
	}
	never := markedLine(t, source, "never")
	for _, test := range []struct {
		spec   string
		status int
		want   string
	}{
		{"mu", exitUsage, `"mu" does not name a lock and lines: write it like mu@queue.c:10-14`},
		{"mu@lost_update.c:9-3", exitUsage, "has no range of lines after the colon"},
		{"mu@none.c:1-3", exitUsage, "no source file of the program is named none.c"},
		{"mu@lost_update.c:1-3", exitUsage, "no instruction that heddle sees is in these lines; the nearest are in lines "},
		{"balance@lost_update.c:1-99", exitUsage, "the variable balance is not known to be a mutex"},
		{fmt.Sprintf("mu@lost_update.c:%d", never), exitFailed, "no thread reached these lines, so the executions say nothing about it; heddle sees instructions in lines "},
	} {
		out, err := heddleCommand(t, dir, nil, "explain", "--try-lock="+test.spec, "bug.hdl").CombinedOutput()
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != test.status || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %v\n%s", test.spec, err, out)
		}
	}
	out, err := heddleCommand(t, dir, nil, "find", "--try-lock=mu@x.go:3", "--", ".").CombinedOutput()
	if err == nil || strings.Contains(string(out), "panic") {
		t.Errorf("%v\n%s", err, out)
	}
}
