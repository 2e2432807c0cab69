package trace

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files again from what the code does")

func TestTextGolden(t *testing.T) {
	const path = "testdata/text.txtar"
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ar.Files {
		f := &ar.Files[i]
		t.Run(f.Name, func(t *testing.T) {
			tr, err := ParseText(bytes.NewReader(f.Data))
			if err != nil {
				t.Fatal(err)
			}
			got, err := MarshalText(tr)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				f.Data = got
				return
			}
			if !bytes.Equal(got, f.Data) {
				t.Errorf("the text became\n%s", got)
			}
			if valid := f.Name != "unusual"; valid {
				if err := Validate(tr); err != nil {
					t.Error(err)
				}
			}
			again, err := Decode(bytes.NewReader(mustEncode(t, tr)))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "through the file format", again, tr)
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTextErrors: each file of the archive is a base text with lines taken out (-) and
// put in (+), and the error that it must give (=).
func TestTextErrors(t *testing.T) {
	forEachEdit(t, "testdata/texterrors.txtar", func(t *testing.T, text, want string) {
		_, err := ParseText(strings.NewReader(text))
		if err == nil || err.Error() != want {
			t.Errorf("error\n\t%v\nwant\n\t%s\nin\n%s", err, want, text)
		}
	})
}

func TestValidateGolden(t *testing.T) {
	for _, name := range []string{"validate", "validatego"} {
		t.Run(name, func(t *testing.T) { validateGolden(t, "testdata/"+name+".txtar") })
	}
}

func validateGolden(t *testing.T, path string) {
	forEachEdit(t, path, func(t *testing.T, text, want string) {
		tr, err := ParseText(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		err = Validate(tr)
		if want == "valid" {
			if err != nil {
				t.Error(err)
			}
			return
		}
		const prefix = "the trace is not valid: "
		if err == nil || err.Error() != prefix+want {
			t.Errorf("error\n\t%v\nwant\n\t%s%s", err, prefix, want)
		}
	})
}

// forEachEdit runs check for the edits of the archive's first file, and for that file
// itself, which must be valid.
func forEachEdit(t *testing.T, path string, check func(t *testing.T, text, want string)) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.Split(strings.TrimSuffix(string(ar.Files[0].Data), "\n"), "\n")
	if _, err := ParseText(strings.NewReader(strings.Join(base, "\n"))); err != nil {
		t.Fatalf("the base: %v", err)
	}
	for _, f := range ar.Files[1:] {
		t.Run(strings.ReplaceAll(f.Name, " ", "_"), func(t *testing.T) {
			text, want := edit(t, base, string(f.Data))
			check(t, text, want)
		})
	}
}

func edit(t *testing.T, base []string, edits string) (text, want string) {
	t.Helper()
	lines := append([]string(nil), base...)
	at := len(lines)
	same := func(a, b string) bool {
		return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
	}
	for _, e := range strings.Split(strings.TrimSpace(edits), "\n") {
		kind, rest := e[:1], strings.TrimSpace(e[1:])
		switch kind {
		case "-":
			at = -1
			for i, l := range lines {
				if same(l, rest) {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("the base has no line %q", rest)
			}
			lines = append(lines[:at], lines[at+1:]...)
		case "+":
			lines = append(lines[:at], append([]string{rest}, lines[at:]...)...)
			at++
		case "=":
			want = rest
		default:
			t.Fatalf("edit %q", e)
		}
	}
	return strings.Join(lines, "\n") + "\n", want
}
