package staticbench

import (
	"bytes"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/simplify/synthetic"
	"github.com/heddle-dev/heddle/testdata/static/go/programs"
	"github.com/heddle-dev/heddle/trace"
)

// check tests the claims that the table makes about a row.
func check(t *testing.T, r Row) {
	t.Helper()
	for name, m := range map[string]Method{"BinTrcRed": r.BinTrcRed, "SimTrace": r.SimTrace, "back-forth": r.BackForth, "merge": r.Merge} {
		if m.After > r.Before || m.After < r.Optimum.Lower {
			t.Errorf("%s, %s: %d switches became %d, and cannot be fewer than %d", r.Name, name, r.Before, m.After, r.Optimum.Lower)
		}
	}
	if r.BinTrcRed.After > r.SimTrace.After || r.Merge.After > r.SimTrace.After || r.Merge.After > r.BackForth.After {
		t.Errorf("%s: %+v", r.Name, r)
	}
	if r.Optimum.Exact && r.Merge.After < r.Optimum.Lower {
		t.Errorf("%s: below the optimum", r.Name)
	}
}

// TestTable is Table I on the recorded traces, where the figures are known.
func TestTable(t *testing.T) {
	inputs, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	sum := 0.0
	for _, in := range inputs {
		if err := trace.Validate(in.Events); err != nil {
			t.Errorf("%s: %v", in.Name, err)
		}
		r, err := Measure(in, 1)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r)
		if !r.Optimum.Exact || r.BinTrcRed.After != r.Optimum.Lower {
			t.Errorf("%s: BinTrcRed leaves %d switches, the fewest are %+v", r.Name, r.BinTrcRed.After, r.Optimum)
		}
		sum += r.Reduction(r.BinTrcRed)
		rows = append(rows, r)
	}
	var out bytes.Buffer
	if err := Print(&out, rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
	if average := sum / float64(len(rows)); average <= 85.3 {
		t.Errorf("BinTrcRed reduces by %.1f %% on average, the paper by 85.3 %%", average)
	}
	for i, r := range recorded {
		file := "../../../testdata/static/go/programs/" + map[string]string{"cphilo": "philo", "cmerge": "merge", "ctsp": "tsp", "cwebdow": "webdow"}[r.file] + ".go"
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), "\n"); n != r.lines {
			t.Errorf("%s has %d lines, the table says %d", file, n, rows[i].Lines)
		}
	}
}

// TestPrograms runs the four programs: they still do what they should, and are recorded as
// valid traces that can be simplified.
func TestPrograms(t *testing.T) {
	for i, p := range programs.All {
		tr := programs.Record(strings.ToLower(p.Name), p.Yield, uint64(i), p.Run)
		if err := trace.Validate(tr); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if want := []int{6, 18, 5, 3}[i]; len(tr.Threads) != want {
			t.Errorf("%s has %d threads, in the paper %d", p.Name, len(tr.Threads), want)
		}
		r, err := Measure(Input{Name: p.Name, Events: tr}, 1)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r)
		if r.Before == 0 {
			t.Errorf("%s did not switch", p.Name)
		}
	}
}

func TestGrowth(t *testing.T) {
	source := func(events, threads int) iter.Seq[*trace.Event] {
		return synthetic.Workload{Events: events, Threads: threads, Conflict: 0.1, Section: 0.05}.All()
	}
	var rows []GrowthRow
	if err := Growth([]int{1000, 10000}, []int{2, 8}, source, func(r GrowthRow) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Events < 1000 || r.After[2] > r.After[0] || r.After[2] > r.Switches || r.Graph.Time <= 0 || r.BinTrcRed.Peak == 0 {
			t.Errorf("%+v", r)
		}
	}
	var out bytes.Buffer
	if err := PrintGrowth(&out, rows); err != nil || strings.Count(out.String(), "\n") != 6 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
