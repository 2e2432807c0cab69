package tracefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// An execution that passes has one file, whatever else might have been a scheduling point; another execution gets another one.
func TestKeepOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.pass.hdl")
	w, err := NewWriter("", file)
	if err != nil {
		t.Fatal(err)
	}
	execution := func(points ...trace.Site) *trace.Trace {
		return &trace.Trace{
			Header:  trace.Header{Target: "c", Command: []string{"x"}, Points: points},
			Modules: []trace.Module{{Path: "/nowhere/x", Program: true}}, Threads: []trace.Thread{{Parent: -1}}, Stacks: [][]trace.Site{nil},
			Ending: trace.Ending{Kind: trace.Clean},
		}
	}
	elsewhere := execution()
	elsewhere.Header.EnvDigest, elsewhere.Header.Surroundings = "67df6ed71b0d15c6", []string{"$_=d9c9"}
	other := execution()
	other.Ending.Output = []byte("other")
	for _, c := range []struct {
		tr   *trace.Trace
		want string
	}{
		{execution(trace.MakeSite(0, 1)), "x.pass.hdl"},
		{execution(), "x.pass.hdl"},
		{execution(trace.MakeSite(0, 1), trace.MakeSite(0, 2)), "x.pass.hdl"},
		{elsewhere, "x.pass.hdl"},
		{other, "x.pass.2.hdl"},
	} {
		if name, err := w.Keep(c.tr, ""); err != nil || filepath.Base(name) != c.want {
			t.Errorf("kept in %s (%v), want %s", name, err, c.want)
		}
	}
	if all, _ := os.ReadDir(filepath.Dir(file)); len(all) != 2 {
		t.Errorf("%d files", len(all))
	}
}
