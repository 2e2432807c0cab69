package toolchain

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpandResponses(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"objs":   "a.o b.o\n\tc.o\r\n",
		"quoted": `"a b.c" 'it"s' -DX=\"y\" c\ d "" e''f`,
		"nested": "-x @objs -y",
		"loop":   "a @loop",
		"empty":  "",
		"open":   `"never closed`,
		"slash":  `end\`,
	}
	read := func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, errors.New("no such file")
		}
		return []byte(text), nil
	}
	for _, test := range []struct{ in, want []string }{
		{[]string{"-c", "x.c"}, []string{"-c", "x.c"}},
		{[]string{"-o", "p", "@objs", "-lm"}, []string{"-o", "p", "a.o", "b.o", "c.o", "-lm"}},
		{[]string{"@quoted"}, []string{"a b.c", `it"s`, `-DX="y"`, "c d", "", "ef"}},
		{[]string{"@nested"}, []string{"-x", "a.o", "b.o", "c.o", "-y"}},
		{[]string{"@missing", "@objs"}, []string{"@missing", "a.o", "b.o", "c.o"}},
		{[]string{"@empty"}, []string{}},
		{[]string{"@open"}, []string{"never closed"}},
		{[]string{"@slash"}, []string{"end"}},
	} {
		if got := expandResponses(test.in, read); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.in, got, test.want)
		}
	}
	if got := expandResponses([]string{"@loop"}, read); len(got) != maxResponseDepth+1 || got[len(got)-1] != "@loop" {
		t.Errorf("a file that names itself gave %d arguments", len(got))
	}
}

// Whatever the arguments, written with each character escaped or quoted they come back.
func TestSplitResponseRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOf(rapid.StringMatching(`[ -~\t\n]*`)).Draw(t, "args")
		var text strings.Builder
		for _, arg := range args {
			if rapid.Bool().Draw(t, "double") {
				text.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(arg) + `"`)
			} else {
				text.WriteString(`'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(arg) + `'`)
			}
			text.WriteString(rapid.SampledFrom([]string{" ", "\n", "\t \r\n"}).Draw(t, "space"))
		}
		if got := splitResponse(text.String()); !slices.Equal(got, args) {
			t.Fatalf("%q came back as %q", args, got)
		}
	})
}

// gcc is the judge of what a response file means: it complains about each word that is
// not a file.
func TestSplitResponseAgainstGCC(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, family(t, GCC), nil)
	complaint := regexp.MustCompile(`(?m)^\S+: error: (.*): linker input file not found`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c"'\\ \t]{0,16}`).Draw(t, "text")
		w.write("words", text)
		r := w.run("", nil, w.c.Path(), "-c", "@words")
		var want []string
		for _, m := range complaint.FindAllStringSubmatch(r.stderr, -1) {
			want = append(want, m[1])
		}
		if got := splitResponse(text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, gcc %q\n%s", text, got, want, r.stderr)
		}
	})
}
