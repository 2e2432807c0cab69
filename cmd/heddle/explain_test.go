package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
)

var explainAll = flag.Bool("explain.all", false, "explain all programs of testdata/programs/fail; the figures in docs/explain.md")

// explained are programs with the pattern of their bug.
var explainedPrograms = map[string]string{
	"lost_update.c": "lost update", "abba_deadlock.c": "lock cycle", "lost_wakeup.c": "lost wake-up", "cleared_callback.c": "check then act",
	"constructor_thread.c": "use before initialisation", "three_way_deadlock.c": "lock cycle", "main_outruns_worker.c": "order violation", "struct_copy_tear.c": "lost update",
}

// TestExplain: the failure of a program depends on few orderings, which few executions show, and the execution with
// the other order does not fail.
func TestExplain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository(t), "testdata/programs/fail/*.c"))
	if err != nil || len(files) < 90 {
		t.Fatal(len(files), err)
	}
	type row struct{ orders, executions int }
	rows := make(chan row, len(files))
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
				var why explainJSON
				out, err := heddleCommand(t, work, nil, "explain", "--json", name).Output()
				if jerr := json.Unmarshal(out, &why); jerr != nil {
					t.Fatalf("%v: %s", err, out)
				}
				rows <- row{len(why.Orders), why.Executions}
				t.Logf("%d orders, %d executions, %q: %s", len(why.Orders), why.Executions, why.Pattern, why.Text)
				if len(why.Orders) == 0 {
					if known {
						t.Error("no order")
					}
					return
				}
				if known && why.Pattern != want || why.Executions > 200 || len(why.Events) != 2*len(why.Orders) {
					t.Errorf("%+v, want %s", why, want)
				}
				var again replayJSON
				out, _ = heddleCommand(t, work, nil, "replay", "--json", why.Passing).Output()
				if err := json.Unmarshal(out, &again); err != nil || !again.Same || again.Finding != nil {
					t.Errorf("the execution that is to pass: %s", out)
				}
				if _, err := os.Stat(filepath.Join(work, filepath.Base(why.Passing))); err != nil || !strings.HasSuffix(why.Passing, ".pass.hdl") {
					t.Errorf("%s: %v", why.Passing, err)
				}
			})
		}
	})
	close(rows)
	explained, orders, executions := 0, []int{}, []int{}
	for r := range rows {
		if r.orders > 0 {
			explained++
			orders = append(orders, r.orders)
		}
		executions = append(executions, r.executions)
	}
	if len(orders) == 0 {
		t.Fatal("nothing was explained")
	}
	t.Logf("%d of %d explained, by at most %d orders; at most %d executions", explained, len(executions), slices.Max(orders), slices.Max(executions))
}
