package term

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-dev/heddle/trace"
)

func summaries() map[string]Simplification {
	// pbzip2 as in tables 1 and 2 of FSE'10, rounded.
	pbzip2 := Simplification{
		Program: "./pbzip2 -k -f -p4 -b1 input", Bug: "SIGSEGV",
		Before: trace.Cost{Events: 458, Threads: 7, Switches: 129, Preemptions: 114},
		After:  trace.Cost{Events: 71, Threads: 4, Switches: 4, Preemptions: 2},
		Gap:    "optimal", Iterations: 3, Executions: 78, Time: 41100 * time.Millisecond,
		Operations: []OperationRow{{"remove last", 31, 6, 14}, {"consolidate up", 36, 22, 101}, {"consolidate down", 11, 5, 10}},
	}
	grown := Simplification{ // a trace may grow, and may have had nothing to remove
		Before: trace.Cost{Events: 297, Threads: 2, Switches: 8},
		After:  trace.Cost{Events: 325, Threads: 2, Switches: 8}, Iterations: 1, Executions: 1, Time: 1234 * time.Microsecond,
	}
	return map[string]Simplification{"pbzip2": pbzip2, "grown": grown}
}

func TestSummary(t *testing.T) {
	const file = "testdata/summary.txtar"
	var got txtar.Archive
	for _, name := range []string{"pbzip2", "grown"} {
		for _, how := range []string{"80", "40", "24", "80 color"} {
			var b bytes.Buffer
			if err := Summary(&b, summaries()[name], options(t, how)); err != nil {
				t.Fatal(err)
			}
			got.Files = append(got.Files, txtar.File{Name: name + " " + how, Data: bytes.ReplaceAll(b.Bytes(), []byte("\x1b"), []byte(`\e`))})
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if g := txtar.Format(&got); !bytes.Equal(g, want) {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

func TestSummaryFits(t *testing.T) {
	s := summaries()["pbzip2"]
	s.Before.Events, s.Program = 123456789, strings.Repeat("名前", 90)
	s.Operations[1].Name = strings.Repeat("long", 20)
	for w := MinWidth; w < 100; w++ {
		var b bytes.Buffer
		if err := Summary(&b, s, Options{Width: w, Unicode: true}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := ansi.StringWidth(line); n > w {
				t.Errorf("in %d: a line of %d cells: %q", w, n, line)
			}
		}
	}
}
