package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTry(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Try(first); err != nil {
		t.Fatal(err)
	}
	if err := Try(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	first.Close()
	if err := Try(second); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
}
