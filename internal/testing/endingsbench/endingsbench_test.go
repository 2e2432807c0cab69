package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/handmade"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The test's binary stands in for endingsbench.
func TestMain(m *testing.M) {
	if os.Getenv("ENDINGSBENCH") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Mistakes on the command line are refused.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-families=nothing", `no such family or style`},
		{"-programs=0", "want at least one program"},
		{"-which=some", `invalid -which "some"`},
		{"ring", `unexpected argument "ring": name families with -families`},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], test.args)
		cmd.Env = append(os.Environ(), "ENDINGSBENCH=1")
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %v, %s", test.args, err, out)
		}
	}
}

// heddle is right about a few programs of several kinds.
func TestMeasure(t *testing.T) {
	t.Parallel()
	need.Tool(t, "gcc", "g++")
	heddle := filepath.Join(t.TempDir(), "heddle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", heddle, "./cmd/heddle")
	build.Dir = filepath.Join("..", "..", "..")
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-heddle", heddle, "-programs=16", "-small", "-runs=100", "-styles=stdatomic",
		"-families=MCS lock,gate with a latch,two locks,barrier,latch that counts down,sequence lock,queue,hot potato")
	cmd.Env = append(os.Environ(), "ENDINGSBENCH=1")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	for _, want := range []string{
		"correct programs: 8, of which 8 clean, 0 with a finding, 0 undecided, 0 fail without heddle",
		"programs with a bug: 8, of which 8 found (100.0 %), 0 missed, 0 with another finding",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Any finding in a correct program is false; one in a program that may get stuck is a failure to end.
func TestJudge(t *testing.T) {
	type finding = struct {
		Kind      string `json:"kind"`
		Message   string `json:"message"`
		Where     string `json:"where"`
		Execution int    `json:"execution"`
	}
	for _, test := range []struct {
		verdict       handmade.Verdict
		outcome, kind string
		want          string
	}{
		{handmade.Correct, "clean", "", right},
		{handmade.Correct, "unfinished", "", undecided},
		{handmade.Correct, "found", "hang", falseFinding},
		{handmade.Stuck, "found", "hang", right},
		{handmade.Stuck, "found", "livelock", right},
		{handmade.Stuck, "found", "assertion", otherKind},
		{handmade.Stuck, "clean", "", missed},
		{handmade.Stuck, "unfinished", "", missed},
		{handmade.Wrong, "found", "assertion", right},
		{handmade.Wrong, "found", "deadlock", right},
		{handmade.Wrong, "found", "signal", otherKind},
	} {
		r := searched{Outcome: test.outcome}
		if test.kind != "" {
			r.Finding = &finding{Kind: test.kind}
		}
		if got := judge(&handmade.Program{Verdict: test.verdict}, &r); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// The table counts programs by kind, and an exception comes with its source.
func TestTable(t *testing.T) {
	var out strings.Builder
	err := printTable(&out, []row{
		{Family: "ring", Bug: "two producers", Verdict: right, Kind: "hang", Executions: 3},
		{Family: "ring", Bug: "two producers", Verdict: missed, Executions: 2000, Source: "int main(void);"},
		{Family: "ring", Verdict: right, Executions: 2000},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ring    two producers  2         1      2003        1 hang\n", "correct programs: 1, of which 1 clean", "programs with a bug: 2, of which 1 found (50.0 %), 1 missed", "int main(void);"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
