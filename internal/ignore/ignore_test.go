package ignore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	one = "deadlock@queue.c:41,queue.c:57#1a2b3c4d"
	two = "hang#00000000"
)

func TestKeys(t *testing.T) {
	list := write(t, "known", "# all of them\n"+one+"\n\n  "+two+"\t# a comment\r\n")
	got, err := Keys([]string{two, list})
	if err != nil || !slices.Equal(got, []string{two, one, two}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "nothing", write(t, "a", one+" "+two+"\n"), write(t, "b", one[:20]+"\n"), t.TempDir()} {
		var wrong *usage.Error
		if keys, err := Keys([]string{one, bad}); !errors.As(err, &wrong) || keys != nil {
			t.Errorf("%q: %q, %v", bad, keys, err)
		}
	}
}

// A trace names its finding; one of a good execution does not.
func TestKeysOfTrace(t *testing.T) {
	for _, test := range []struct{ ending, finding, want string }{
		{"fail deadlock", one, ""},
		{"fail deadlock", "", "does not contain the key of its finding"},
		{"", "", "shows no failure"},
	} {
		r, _ := reporttest.Parse(t, []byte("-- trace --\nfile a.c\nfunc f 1 99\nthread T0 f\nthread T1 f\nT0 1 start\nT0 2 create T1\nT1 1 start\n"+
			"T1 3 lock m\nwait T1 4 lock m T1\nwait T0 9 join T1\n"+test.ending+"\n"))
		r.Header.Finding = test.finding
		file := filepath.Join(t.TempDir(), "bug.hdl")
		if err := tracefile.Write(file, r); err != nil {
			t.Fatal(err)
		}
		keys, err := Keys([]string{file})
		switch {
		case test.want == "" && (err != nil || !slices.Equal(keys, []string{test.finding})):
			t.Errorf("%q, %v", keys, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q, %v; want %q", keys, err, test.want)
		}
	}
}
