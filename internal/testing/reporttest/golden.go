package reporttest

import (
	"bytes"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Golden compares what draw returns for each of the fixtures with the archive at
// path, or writes the archive if update is set. A nil result is a fixture without a file.
func Golden(t *testing.T, path string, update bool, draw func(t *testing.T, name string) []byte) {
	t.Helper()
	var got txtar.Archive
	for _, name := range Fixtures() {
		if data := draw(t, name); data != nil {
			got.Files = append(got.Files, txtar.File{Name: name, Data: data})
		}
	}
	if update {
		if err := os.WriteFile(path, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Files) != len(got.Files) {
		t.Fatalf("%d files, %s has %d; run with -update", len(got.Files), path, len(want.Files))
	}
	for i, w := range want.Files {
		if g := got.Files[i]; g.Name != w.Name || !bytes.Equal(g.Data, w.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", w.Name, g.Data, w.Data)
		}
	}
}
