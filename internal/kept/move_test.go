package kept

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Findings of earlier versions move completely, overwrite nothing, and leave alone what
// is not heddle's.
func TestMoveKept(t *testing.T) {
	pkg := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(pkg, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		_ = filepath.WalkDir(pkg, func(name string, e os.DirEntry, err error) error {
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(pkg, name)
			names = append(names, rel)
			return nil
		})
		return names
	}
	if note := moveKept(pkg); note != "" || HasOld(pkg) || len(left()) != 1 {
		t.Errorf("nothing to move: %q, %q", note, left())
	}
	write("testdata/heddle/TestA/1.hdl", "one")
	write("testdata/heddle/TestA/sub/2.hdl", "two")
	if !HasOld(pkg) {
		t.Error("not seen")
	}
	if note := moveKept(pkg); note != "2 kept findings moved from testdata/heddle to _heddle: tests that walk testdata would read them" {
		t.Errorf("%q", note)
	}
	if got, want := left(), []string{".", "_heddle", "_heddle/TestA", "_heddle/TestA/1.hdl", "_heddle/TestA/sub", "_heddle/TestA/sub/2.hdl"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	write("testdata/input", "mine")
	write("testdata/heddle/TestA/1.hdl", "one") // the same again
	write("testdata/heddle/TestA/sub/2.hdl", "another")
	write("testdata/heddle/TestB/notes.txt", "mine")
	moveKept(pkg)
	if got, want := left(), []string{
		".", "_heddle", "_heddle/TestA", "_heddle/TestA/1.hdl", "_heddle/TestA/sub", "_heddle/TestA/sub/2.hdl",
		"testdata", "testdata/heddle", "testdata/heddle/TestA", "testdata/heddle/TestA/sub", "testdata/heddle/TestA/sub/2.hdl",
		"testdata/heddle/TestB", "testdata/heddle/TestB/notes.txt", "testdata/input",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(pkg, "_heddle/TestA/sub/2.hdl")); err != nil || string(b) != "two" {
		t.Errorf("%v %q", err, b)
	}
}
