package trace

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Files that are out there must stay readable for as long as they have this format
// version. testdata/format1 was written once; it is the trace "crash" of text.txtar and
// must never be written again.
func TestFormat1StaysReadable(t *testing.T) {
	if FormatVersion != 1 {
		t.Skip("this format does not read format 1")
	}
	file, err := os.ReadFile("testdata/format1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "format 1", got, textGolden(t, "crash"))
}

func textGolden(t *testing.T, name string) *Trace {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/text.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		if f.Name == name {
			tr, err := ParseText(bytes.NewReader(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
	}
	t.Fatalf("text.txtar has no %s", name)
	return nil
}

// The example of the documentation is one.
func TestDocumentedText(t *testing.T) {
	doc, err := os.ReadFile("../docs/trace-format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(doc), "```\nheddle trace text")
	example, _, ok2 := strings.Cut(example, "```")
	if !ok || !ok2 {
		t.Fatal("the documentation has no example of the text form")
	}
	example = "heddle trace text" + example
	tr, err := ParseText(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(tr); err != nil {
		t.Error(err)
	}
	text, err := MarshalText(tr)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != example {
		t.Errorf("the documentation's example would be written as\n%s", text)
	}
}
