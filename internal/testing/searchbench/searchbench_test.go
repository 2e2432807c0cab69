package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The test's binary stands in for searchbench.
func TestMain(m *testing.M) {
	if os.Getenv("SEARCHBENCH") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// searchbench runs as users run it, in the repository's top directory.
func searchbench(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "SEARCHBENCH=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		status = cmd.ProcessState.ExitCode()
	}
	return out.String(), errs.String(), status
}

// A family is measured at each size, with each strategy and seed.
func TestMeasure(t *testing.T) {
	need.Tool(t, "gcc")
	heddle := filepath.Join(t.TempDir(), "heddle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", heddle, "./cmd/heddle")
	build.Dir = filepath.Join("..", "..", "..")
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	out, errs, status := searchbench(t, "-heddle", heddle, "-json", "-programs=chain-1,chain-2", "-seeds=2", "-strategies=default,pct", "-time=20s")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var all results
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	for _, r := range all.Rows {
		got = append(got, r.Program+" "+r.Strategy)
		if r.Found != 2 || len(r.Executions) != 2 || len(r.Seconds) != 2 || r.Executions[0] < 1 || r.Executions[1] < r.Executions[0] || r.Seconds[1] <= 0 {
			t.Errorf("%+v", r)
		}
	}
	if want := []string{"chain-1 default", "chain-1 pct", "chain-2 default", "chain-2 pct"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

// Mistakes on the command line are refused.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-programs=nothing", `no such programs`},
		{"-seeds=0", "want at least one strategy, one seed"},
		{"reorder", `unexpected argument "reorder": name programs with -programs`},
	} {
		if _, errs, status := searchbench(t, test.args); status != 2 || !strings.Contains(errs, test.want) {
			t.Errorf("%s: status %d, %s", test.args, status, errs)
		}
	}
}

// The default search is compared with the best of the others, in the median; those that do not find the
// bug with most seeds do not count.
func TestCompare(t *testing.T) {
	seconds := []float64{1, 2, 3}
	all := &results{
		Settings: settings{Strategies: []string{"default", "a", "b"}, Seeds: 3},
		Rows: []row{
			{Program: "p", Strategy: "default", Seeds: 3, Found: 3, Executions: []int{1, 30, 31}, Seconds: seconds},
			{Program: "p", Strategy: "a", Seeds: 3, Found: 3, Executions: []int{2, 10, 500}, Seconds: seconds},
			{Program: "p", Strategy: "b", Seeds: 3, Found: 1, Executions: []int{2, 3, 4}, Seconds: seconds},
			{Program: "q", Strategy: "default", Seeds: 3, Found: 2, Executions: []int{1, 31, 31}, Seconds: seconds},
			{Program: "q", Strategy: "a", Seeds: 3, Found: 3, Executions: []int{2, 10, 500}, Seconds: seconds},
			{Program: "q", Strategy: "b", Seeds: 3, Found: 3, Executions: []int{2, 300, 400}, Seconds: seconds},
		},
	}
	c := compare(all)
	if c.Compared != 2 || c.Searches != 6 || !slices.Equal(c.Found, []int{5, 6, 4}) ||
		!slices.Equal(c.Slow, []string{"q, 31, against 10 by a"}) || !slices.Equal(c.Missed, []string{"q, in 1 of 3 searches"}) {
		t.Errorf("%+v", c)
	}
}
