package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	want := func(name, content string) {
		t.Helper()
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != content {
			t.Errorf("%s: %q, %v; want %q", name, b, err, content)
		}
	}
	if err := WriteBytes(at("new"), 0o640, []byte("one")); err != nil {
		t.Fatal(err)
	}
	want("new", "one")
	if info, err := os.Stat(at("new")); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
	if err := os.Chmod(at("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(at("new"), func(w io.Writer) error { _, err := w.Write([]byte("two")); return err }); err != nil {
		t.Fatal(err)
	}
	want("new", "two")
	if info, err := os.Stat(at("new")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}

	// What cannot be written whole is not written.
	failed := errors.New("failed")
	if err := Write(at("new"), 0o666, func(w io.Writer) error { w.Write([]byte("three")); return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	want("new", "two")

	// A link is replaced, and what it leads to stays, whether it is there or not.
	for link, to := range map[string]string{"link": "new", "dangling": "nowhere"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
		if err := WriteBytes(at(link), 0o666, []byte("four")); err != nil {
			t.Fatal(err)
		}
		want(link, "four")
	}
	want("new", "two")
	if _, err := os.Lstat(at("nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a dangling link was followed")
	}

	// Other things stay.
	if err := unix.Mkfifo(at("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, what := range map[string]string{at("pipe"): "pipe", dir: "directory", "/dev/zero": "device"} {
		err := WriteBytes(name, 0o666, nil)
		if e := (*NotReplacedError)(nil); !errors.As(err, &e) || e.What != what {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := WriteBytes(os.DevNull, 0o666, []byte("five")); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(os.DevNull); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("/dev/null was replaced: %v, %v", info, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 4 {
		t.Errorf("%v, %v", left, err)
	}
}
