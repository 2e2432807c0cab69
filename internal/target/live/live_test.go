package live_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/trace"
)

// library builds the library of the backend live.
func library(t *testing.T) string {
	t.Helper()
	cc, err := toolchain.Find(t.Context(), toolchain.C)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := toolchain.Build(t.Context(), toolchain.Options{Compiler: cc, Cache: t.TempDir(), Source: heddle.LiveRuntime()})
	if err != nil {
		t.Fatal(err)
	}
	return rt.Library
}

// compile builds a source file as heddle cc does, with the library in place of the controlled runtime.
func compile(t *testing.T, lib, source string, flags ...string) *live.Program {
	t.Helper()
	source, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(t.TempDir(), "prog")
	args := append([]string{"-g", "-O1", "-pthread", "-fsanitize=thread", "-o", prog, source, "-L" + filepath.Dir(lib), "-B" + filepath.Dir(lib)}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return live.New(live.Config{Path: prog, Args: []string{prog, "1000"}, Env: os.Environ(), Library: lib, Modules: []trace.Module{{Path: prog, Program: true}}})
}

func TestProfileAndForce(t *testing.T) {
	lib := library(t)
	p := compile(t, lib, "../../../testdata/atomicity/log_index.c")
	profile := atomicity.NewProfile()
	for seed := range uint64(3) {
		r, err := p.Run(t.Context(), live.Request{Mode: live.Profile, Seed: seed, Most: 1 << 20, Limit: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Validate(r.Trace); err != nil {
			t.Fatal(err)
		}
		profile.Add(r.Trace, r.Times)
		t.Logf("%d events, %d threads", len(r.Trace.Events), r.Threads)
	}
	for _, i := range profile.All() {
		t.Logf("%+v", i)
	}
	failed := 0
	for _, i := range profile.All() {
		for seed := range uint64(5) {
			r, err := p.Run(t.Context(), live.Request{Mode: live.Force, Seed: seed, Targets: []live.Target{{P: i.P.Site, C: i.C.Site, R: i.R.Site, ThreadC: -1, ThreadR: -1}},
				Suspend: 50 * time.Millisecond, Pass: time.Millisecond, Budget: 10, Limit: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", *r)
			if r.Failed(0) {
				failed++
			}
		}
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}
