package live_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// TestSpeedLive: without targets, a program that computes takes less than twice its own processor time, and
// with all hooks it takes longer.
func TestSpeedLive(t *testing.T) {
	need.Speed(t)
	lib := library(t)
	source, err := filepath.Abs("../../../testdata/programs/compute/parallel_sort.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	native, prog := filepath.Join(dir, "native"), filepath.Join(dir, "prog")
	for _, args := range [][]string{
		{"-O2", "-pthread", "-o", native, source},
		{"-O2", "-pthread", "-fsanitize=thread", "-o", prog, source, "-L" + filepath.Dir(lib), "-B" + filepath.Dir(lib)},
	} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	p := live.New(live.Config{Path: prog, Args: []string{prog, "60000000"}, Library: lib, Modules: []trace.Module{{Path: prog, Program: true}}})
	var m [3]float64
	for range need.Tries {
		cmd := exec.Command(native, "60000000")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		m[0] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		for i, hooks := range []bool{false, true} {
			r, err := p.Run(t.Context(), live.Request{Hooks: hooks, Limit: time.Minute})
			if err != nil || r.Failed(0) {
				t.Fatalf("%+v: %v", r, err)
			}
			if r.Refused > 0 {
				t.Errorf("%d calls could not be left out", r.Refused)
			}
			m[1+i] = r.CPU
		}
		t.Logf("native %.3f s, live without targets %.3f s (%.2f), with all hooks %.3f s (%.2f)", m[0], m[1], m[1]/m[0], m[2], m[2]/m[0])
		if m[1] <= 2*m[0]+0.02 && m[2] >= m[1] {
			return
		}
	}
	t.Errorf("the last of %d tries took %.2f times as long as natively without targets, and %.2f times with all hooks", need.Tries, m[1]/m[0], m[2]/m[0])
}
