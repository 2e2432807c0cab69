package ipc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func headerOf(env []string, files ...string) trace.Header {
	return trace.Header{EnvDigest: EnvDigest(env), Surroundings: append(Surroundings(env), inputs(files)...)}
}

func TestChanged(t *testing.T) {
	env := []string{"A=1", "B=2", "SHLVL=1", "EMPTY=", "EQUALS=a=b"}
	with := func(more ...string) []string { return append(slices.Clone(env), more...) }
	many := func(value string) (list []string) {
		for _, c := range "abcdefgh" {
			list = append(list, string(c)+"="+value)
		}
		return list
	}
	for _, c := range []struct {
		name     string
		was, now []string
		want     string
	}{
		{"nothing", env, env, ""},
		{"another order", env, []string{"B=2", "A=1", "EQUALS=a=b", "EMPTY=", "SHLVL=1"}, ""},
		{"a value", env, []string{"A=7", "B=2", "SHLVL=1", "EMPTY=", "EQUALS=a=b"}, "the environment variable A"},
		{"one more", env, with("NEW=1"), "the environment variable NEW"},
		{"an empty one more", env, with("NEW="), "the environment variable NEW"},
		{"one less", with("OLD=1"), env, "the environment variable OLD"},
		{"what shells set comes last", env, []string{"B=3", "SHLVL=2", "EMPTY=", "EQUALS=a=c"}, "the environment variables A B EQUALS SHLVL"},
		{"many", many("1"), many("2"), "the environment variables a b c d e and 3 more"},
	} {
		if got := strings.Join(Changed(headerOf(c.was), headerOf(c.now)), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	// Of an older trace only the digest is known.
	if got := Changed(trace.Header{EnvDigest: EnvDigest(env)}, headerOf(with("NEW=1"))); !slices.Equal(got, []string{"the environment"}) {
		t.Errorf("%q", got)
	}
	was := headerOf(env)
	for i, s := range was.Surroundings {
		if strings.HasPrefix(s, "host: the limit on the stack") {
			was.Surroundings[i] = s[:len(s)-4] + "----"
		}
	}
	if got := Changed(was, headerOf(env)); !slices.Equal(got, []string{"the limit on the stack (ulimit -s)"}) {
		t.Errorf("%q", got)
	}
}

func TestChangedFiles(t *testing.T) {
	dir := t.TempDir()
	same, changed, gone := filepath.Join(dir, "same"), filepath.Join(dir, "changed=1"), filepath.Join(dir, "gone")
	for _, f := range []string{same, changed, gone} {
		if err := os.WriteFile(f, []byte("content"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := headerOf(nil, gone, same, changed, same, dir, "/proc/self/maps", filepath.Join(dir, "none"))
	if n := len(was.Surroundings) - len(Surroundings(nil)); n != 3 {
		t.Errorf("%d files are known: %q", n, was.Surroundings)
	}
	if got := Changed(was, headerOf(nil)); got != nil {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(changed, []byte("Content and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	want := []string{"the input file " + changed, "the input file " + gone + " (which no longer exists)"}
	if got := Changed(was, headerOf(nil)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No value of a variable is in a trace, nor enough of its hash to confirm a guess.
func TestSurroundingsTellNoValue(t *testing.T) {
	for _, s := range Surroundings([]string{"TOKEN=hunter2"}) {
		if strings.HasPrefix(s, "$TOKEN=") && (len(s) != len("$TOKEN=")+4 || strings.Contains(s, "hunter2")) {
			t.Errorf("%q", s)
		}
	}
}
