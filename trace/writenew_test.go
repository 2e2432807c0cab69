package trace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestWriteNew: of many writers of one name one succeeds, and an existing file stays.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.hdl", "b.hdl", "c.hdl"} {
		name = filepath.Join(dir, name)
		var wrote atomic.Int32
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				switch err := WriteNew(name, childTrace()); {
				case err == nil:
					wrote.Add(1)
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := wrote.Load(); n != 1 {
			t.Errorf("%s was written %d times", name, n)
		}
		if _, err := ReadFile(name); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(name + IncompleteExt); err == nil {
			t.Error("the incomplete name is left")
		}
	}
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(other, childTrace()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(other); string(b) != "mine" {
		t.Errorf("overwritten: %q", b)
	}
}

// TestKilledBetweenNames: a writer that was killed after the file had its name, and before the
// incomplete name was removed, leaves a trace that the next writer does not empty.
func TestKilledBetweenNames(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.hdl")
	if err := WriteFile(name, childTrace()); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(name, name+IncompleteExt); err != nil {
		t.Skip("the file system has no links")
	}
	w, err := NewWriter(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(name); err != nil {
		t.Errorf("a new writer has emptied the finished trace: %v", err)
	}
	w.Discard()
}
