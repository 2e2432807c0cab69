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

// The test's binary stands in for ctriggerbench.
func TestMain(m *testing.M) {
	if os.Getenv("CTRIGGERBENCH") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// ctriggerbench runs as users run it, in the repository's top directory.
func ctriggerbench(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "CTRIGGERBENCH=1")
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

func measured(t *testing.T, args ...string) *results {
	t.Helper()
	need.Tool(t, "gcc")
	out, errs, status := ctriggerbench(t, append([]string{"-json", "-limit=2s", "-seeds=2", "-replays=3", "-recordings=4", "-runs=3"}, args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	all := &results{}
	if err := json.Unmarshal([]byte(out), all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}

// consistent checks what the figures of a program must be among each other.
func consistent(t *testing.T, s *settings, r *row) {
	t.Helper()
	var names []string
	for i := range r.Exposures {
		x := &r.Exposures[i]
		names = append(names, x.Method)
		searches := 1
		if x.Method == methodLive || x.Method == methodControlled {
			searches = s.Seeds
		}
		if x.Searches != searches || len(x.Seconds) != searches || len(x.Executions) != searches || x.Exposed > searches ||
			slices.Min(x.Executions) < 1 || slices.Min(x.Seconds) <= 0 {
			t.Errorf("%s: %+v", r.Program, x)
		}
		if (x.Exposed > 0) != (x.Failure != "") || x.Again.Failures > x.Again.Executions || x.Exposed == 0 && x.Again.Executions > 0 || (x.Again.Executions > 0) != (x.Again.Seconds > 0) {
			t.Errorf("%s: %+v", r.Program, x)
		}
	}
	if !slices.Equal(names, methods) {
		t.Errorf("%s: methods %q, want %q", r.Program, names, methods)
	}
	for name, b := range map[string]*search{methodLive: &r.Live, methodControlled: &r.Controlled} {
		switch {
		case b.Feasible > b.Potential || b.FeasibleCurrents > b.Currents || b.Currents > b.Potential || b.Currents > b.Instructions,
			b.Targets > b.Feasible || b.Bugs > b.Targets || b.Forced > b.Targets,
			(b.Rank > 0) != (b.Bugs > 0) || (b.Rank > 0) != (b.FirstCome > 0) || max(b.Rank, b.FirstCome) > b.Targets,
			b.Profiling <= 0 || b.Analysis < 0 || b.Testing < 0,
			len(b.Recordings) != s.Recordings || slices.Min(b.Recordings) < 0:
			t.Errorf("%s, %s: %+v", r.Program, name, b)
		}
	}
	for _, c := range []cost{r.Slowdown.Native, r.Slowdown.Plain, r.Slowdown.Hooks, r.Slowdown.Profile} {
		if c.Seconds <= 0 || c.CPU <= 0 {
			t.Errorf("%s: %+v", r.Program, r.Slowdown)
		}
	}
}

// CTrigger exposes the bug on heddle's scheduler and reproduces it, and the figures agree with each
// other. On live it may not, if the machine is busy.
func TestMeasure(t *testing.T) {
	all := measured(t, "-programs=log_index,property_cache", "-work=20000")
	if len(all.Rows) != 2 || all.Rows[0].Program != "log_index" || all.Rows[1].Program != "property_cache" || all.Seconds <= 0 {
		t.Fatalf("%+v", all)
	}
	for i := range all.Rows {
		r := &all.Rows[i]
		consistent(t, &all.Settings, r)
		x := r.exposure(methodControlled)
		if x.Exposed == 0 || x.Again.Executions != 3 || x.Again.Failures != 3 {
			t.Errorf("%s: %+v", r.Program, x)
		}
		if !r.Controlled.Ranked.Exposed || r.Controlled.Bugs == 0 {
			t.Errorf("%s: %+v", r.Program, r.Controlled)
		}
	}
}

// A program that exists in two builds is measured with its arguments.
func TestGiven(t *testing.T) {
	need.Tool(t, "gcc")
	ctx, dir := t.Context(), t.TempDir()
	b, err := newBuilder(ctx)
	if err != nil {
		t.Fatal(err)
	}
	native, hooked := filepath.Join(dir, "native"), filepath.Join(dir, "hooked")
	for out, wrapped := range map[string]bool{native: false, hooked: true} {
		if err := b.compilers.Compile(ctx, b.compilers.C, wrapped, "-O1", "-g", "-pthread", "-o", out, "../../../testdata/atomicity/property_cache.c"); err != nil {
			t.Fatal(err)
		}
	}
	all := measured(t, "-seeds=1", "-limit=1s", "-native="+native, "-hooked="+hooked, "--", "3")
	if len(all.Rows) != 1 || all.Rows[0].Program != "hooked" {
		t.Fatalf("%+v", all)
	}
	consistent(t, &all.Settings, &all.Rows[0])
	if all.Rows[0].exposure(methodControlled).Exposed == 0 {
		t.Errorf("%+v", all.Rows[0])
	}
}

// In correct programs no method exposes anything, and the table says so.
func TestCorrect(t *testing.T) {
	all := measured(t, "-correct", "-programs=log_index,barnes_phases", "-work=20000")
	for i := range all.Rows {
		r := &all.Rows[i]
		consistent(t, &all.Settings, r)
		for _, x := range r.Exposures {
			if x.Exposed > 0 {
				t.Errorf("%s: %+v", r.Program, x)
			}
		}
		if r.Live.Bugs+r.Controlled.Bugs > 0 {
			t.Errorf("%s: %+v %+v", r.Program, r.Live, r.Controlled)
		}
	}
	var out strings.Builder
	if err := printTables(&out, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"log_index       -           -       -              -     -           -\n", "live: exposes 0 of 2 programs"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// Mistakes on the command line are refused.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-programs=nothing", `no program "nothing" in testdata/atomicity`},
		{"-seeds=0", "want a time limit, and at least one seed"},
		{"log_index", `unexpected argument "log_index": name programs with -programs`},
		{"-native=x", "want -native and -hooked together"},
	} {
		if _, errs, status := ctriggerbench(t, test.args); status != 2 || !strings.Contains(errs, test.want) {
			t.Errorf("%s: status %d, %s", test.args, status, errs)
		}
	}
}
