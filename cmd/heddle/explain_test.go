package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/beside"
	"github.com/heddle-dev/heddle/internal/result"
)

var explainAll = flag.Bool("explain.all", false, "explain all programs of testdata/programs/fail; the figures in docs/explain.md")

// explained are programs with the pattern of their bug.
var explainedPrograms = map[string]string{
	"lost_update.c": "lost update", "abba_deadlock.c": "lock cycle", "lost_wakeup.c": "lost wake-up", "cleared_callback.c": "check then act", "check_then_act.c": "check then act",
	"constructor_thread.c": "use before initialisation", "three_way_deadlock.c": "lock cycle", "main_outruns_worker.c": "order violation", "struct_copy_tear.c": "lost update",
	"aba_stack.c": "ABA", "double_checked_locking.c": "double-checked locking", "self_deadlock.c": "self-deadlock", "publish_reorder.c": "torn read",
	"handler_counter.c": "interruption by a signal handler", "select_after_signal.c": "interruption by a signal handler", "dropped_lock.c": "check then act",
	"join_detached.c": "atomicity violation", "work_stealing_deque.c": "atomicity violation", "lseek_race.c": "atomicity violation", "descriptor_reuse.c": "reused descriptor", "request_on_stack.c": "order violation", "log_flush.c": "check then act", "pipe_full_lock.c": "wait with a lock held",
}

// TestExplain: the failure of a program depends on few orderings, which few executions show, and the execution with
// the other order does not fail.
func TestExplain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository(t), "testdata/programs/fail/*.c"))
	if err != nil || len(files) < 90 {
		t.Fatal(len(files), err)
	}
	rows := make(chan explainedRow, len(files))
	t.Run("programs", func(t *testing.T) {
		for _, file := range files {
			name := filepath.Base(file)
			want, known := explainedPrograms[name]
			if !known && !*explainAll {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				work := t.TempDir()
				prog := filepath.Join(work, "prog")
				e := readExpectation(t, file)
				compileProgram(t, e, "gcc", "-O1", prog)
				var found result.Find
				out, _ := heddleCommand(t, work, nil, "find", "--json", "--races=ignore", "--simplify-time=2s", "--time=30s", "--", prog).Output()
				if err := json.Unmarshal(out, &found); err != nil || found.Finding == nil {
					if known {
						t.Errorf("nothing found: %s", out)
					}
					t.Skip("find with its default options finds nothing that --races=ignore leaves")
				}
				name := found.Trace
				if found.Simplified != nil {
					name = found.Simplified.Trace
				}
				var why report.Explanation
				out, err := heddleCommand(t, work, nil, "explain", "--json", name).Output()
				if jerr := json.Unmarshal(out, &why); jerr != nil {
					t.Fatalf("%v: %s", err, out)
				}
				missing := causeOf(t, file).missing(&why)
				rows <- explainedRow{filepath.Base(file), len(why.Orders) > 0 || why.Pattern != "", len(why.Orders), why.Executions, missing == ""}
				if missing != "" {
					t.Logf("the cause is not named: %s", missing)
				}
				if known && missing != "" {
					t.Errorf("the cause is not named: %s, in %+v", missing, why)
				}
				t.Logf("%d orders, %d executions, %q: %s", len(why.Orders), why.Executions, why.Pattern, why.Text)
				checkShort(t, &why)
				if len(why.Orders) == 0 {
					if known && why.Pattern != want {
						t.Errorf("no order, and %q, want %s", why.Pattern, want)
					}
					return
				}
				if known && why.Pattern != want || why.Executions > 600 || len(why.Events) != 2*len(why.Orders) {
					t.Errorf("%+v, want %s", why, want)
				}
				var again replayJSON
				out, _ = heddleCommand(t, work, nil, "replay", "--json", why.Passing).Output()
				if err := json.Unmarshal(out, &again); err != nil || !again.Same || again.Finding != nil {
					t.Errorf("the execution that is to pass: %s", out)
				}
				var compared beside.Comparison
				out, err = heddleCommand(t, work, nil, "compare", "--json", name).Output()
				if jerr := json.Unmarshal(out, &compared); jerr != nil || !compared.Turned || compared.Executions != 2 || filepath.Base(compared.Passing.Trace) != filepath.Base(why.Passing) || compared.Order.Failing == nil && compared.Order.Passing == nil && compared.Value == nil {
					t.Errorf("the execution beside it: %v: %s", err, out)
				}
				if _, err := os.Stat(filepath.Join(work, filepath.Base(why.Passing))); err != nil || !strings.HasSuffix(why.Passing, ".pass.hdl") {
					t.Errorf("%s: %v", why.Passing, err)
				}
			})
		}
	})
	close(rows)
	summarize(t, rows)
}

// checkShort: a line is short enough to be read at once, and has one sentence.
func checkShort(t *testing.T, why *report.Explanation) {
	t.Helper()
	if n := utf8.RuneCountInString(why.Short); n > 160 || n == 0 && len(why.Orders) > 0 && why.Pattern != "" || strings.Contains(why.Short, "\n") {
		t.Errorf("%d characters: %q", n, why.Short)
	}
	t.Logf("in one line: %s", why.Short)
}

// explainedRow is what heddle explain said of a program's failure.
type explainedRow struct {
	program            string
	explained          bool // by orderings, or by what the pattern says
	orders, executions int
	named              bool // the cause that the program states is in the explanation
}

func summarize(t *testing.T, rows <-chan explainedRow) {
	explained, named, orders, executions := 0, 0, []int{}, []int{}
	var others []string
	for r := range rows {
		if r.named {
			named++
		} else {
			others = append(others, r.program)
		}
		if r.explained {
			explained++
			orders = append(orders, r.orders)
		}
		executions = append(executions, r.executions)
	}
	if len(orders) == 0 {
		t.Fatal("nothing was explained")
	}
	slices.Sort(others)
	t.Logf("%d of %d explained, by at most %d orders; at most %d executions; the cause is named of %d; not of %s",
		explained, len(executions), slices.Max(orders), slices.Max(executions), named, strings.Join(others, ", "))
}

// cause is the root cause of a program's bug, as the last line of its source states it (testdata/README.md): an object, and the lines
// that contain certain texts.
type cause struct {
	none   bool // it does not depend on the schedule
	object string
	texts  []string
	places [][]string // for each text, those that contain it, like queue.c:17
}

// causeOf returns the cause that file states. Its texts may be in the other files, too.
func causeOf(t *testing.T, file string, others ...string) *cause {
	t.Helper()
	var c *cause
	for _, f := range append([]string{file}, others...) {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
		if c == nil {
			last := lines[len(lines)-1]
			lines = lines[:len(lines)-1]
			text, ok := strings.CutPrefix(last, "// cause: ")
			if !ok {
				t.Fatalf("%s does not end with its cause", file)
			}
			if text == "none" {
				return &cause{none: true}
			}
			object, texts, ok := strings.Cut(text, ": ")
			if !ok {
				t.Fatalf("%s: bad cause %q", file, text)
			}
			c = &cause{object: object, texts: strings.Split(texts, " | ")}
			c.places = make([][]string, len(c.texts))
		}
		for k, x := range c.texts {
			for i, l := range lines {
				if strings.Contains(l, x) {
					c.places[k] = append(c.places[k], fmt.Sprintf("%s:%d", filepath.Base(f), i+1))
				}
			}
		}
	}
	for k, x := range c.texts {
		if c.places[k] == nil {
			t.Fatalf("%s: no line contains %q", file, x)
		}
	}
	return c
}

// missing says what of the cause an explanation does not name, empty for nothing.
func (c *cause) missing(why *report.Explanation) string {
	// A pattern without an ordering says how the execution ends, under each schedule if the cause is none.
	if explained := len(why.Orders) > 0 || why.Pattern != "" && !c.none; c.none || !explained {
		if c.none != explained {
			return ""
		}
		return "an order, or none"
	}
	at := map[string]bool{}
	mentioned := ""
	place := func(where string) { at[where[strings.LastIndex(where, " ")+1:]] = true }
	for _, o := range why.Orders {
		mentioned += o.Object + "\n"
	}
	for _, e := range why.Events {
		place(e.Where)
		for _, s := range e.Stack {
			place(s)
		}
	}
	for _, s := range why.Steps {
		place(s.Where)
		mentioned += s.Text + "\n"
	}
	if !strings.Contains(mentioned, c.object) {
		return c.object
	}
	for k, places := range c.places {
		if !slices.ContainsFunc(places, func(p string) bool { return at[p] }) {
			return c.texts[k]
		}
	}
	return ""
}
