package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What is not a regular file is refused at once, and what was open for writing stays so.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("file"), []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{at("fifo"), at("link"), dir, "/dev/zero", "/dev/tty", "/dev/null"} {
			if _, err := os.Stat(name); err != nil {
				continue
			}
			if _, err := Open(name); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := OpenELF(name); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s as ELF: %v", name, err)
			}
		}
		// As if it had been a file a moment ago.
		if f, err := open(at("fifo")); err == nil {
			f.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a writer")
	}
	f, err := Open(at("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := io.ReadAll(f); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Open(at("missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if e, err := OpenELF("/proc/self/exe"); err != nil {
		t.Error(err)
	} else if err := e.Close(); err != nil {
		t.Error(err)
	}
}
