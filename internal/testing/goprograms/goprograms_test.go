package goprograms

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

const programs = "../../../testdata/goprograms"

func list(t *testing.T) []Program {
	t.Helper()
	all, err := List(programs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every failing program has a twin, every twin a failing program, and a test of one name.
func TestTwins(t *testing.T) {
	t.Parallel()
	type key struct {
		name string
		main bool
	}
	fail, pass := map[key]Program{}, map[key]Program{}
	for _, p := range list(t) {
		switch {
		case !p.Clean():
			fail[key{p.Name, p.Main}] = p
		case filepath.Base(filepath.Dir(p.Dir)) == "pass":
			pass[key{p.Name, p.Main}] = p
		}
	}
	if len(fail) < 36 {
		t.Errorf("%d failing programs, want 36 or more", len(fail))
	}
	for k, p := range fail {
		if twin, ok := pass[k]; !ok {
			t.Errorf("%s has no twin", p.Dir)
		} else if twin.Test != p.Test {
			t.Errorf("%s: the test is %s, its twin's is %s", p.Dir, p.Test, twin.Test)
		}
	}
	for k, p := range pass {
		if _, ok := fail[k]; !ok {
			t.Errorf("%s has no failing twin", p.Dir)
		}
	}
}

// Each way of failing occurs, and where one kind is expected its text or, for a race, the lack
// of one as well.
func TestKinds(t *testing.T) {
	t.Parallel()
	count := map[trace.Kind]int{}
	for _, p := range list(t) {
		for _, k := range p.Kinds {
			count[k]++
		}
		if len(p.Kinds) == 1 && (p.Finding == "") != (p.Kinds[0] == trace.Race) {
			t.Errorf("%s: kind %v with finding %q", p.Dir, p.Kinds[0], p.Finding)
		}
		if len(p.Kinds) > 1 && p.Finding != "" {
			t.Errorf("%s: finding %q for kinds %v", p.Dir, p.Finding, p.Kinds)
		}
	}
	for _, k := range []trace.Kind{trace.Test, trace.Panic, trace.Fatal, trace.Race, trace.Deadlock, trace.Leak, trace.Hang, trace.Exit} {
		if count[k] == 0 {
			t.Errorf("no program of kind %v", k)
		}
	}
}

// A stated minimum is argued for; a text that a program produces itself is in its source.
func TestHeadersMatchSources(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		var source strings.Builder
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			head, code, _ := strings.Cut(string(b), "\n\n")
			if !strings.HasPrefix(head, "// kind: ") {
				code = string(b)
			}
			source.WriteString(code)
		}
		if argued := strings.Contains(source.String(), "// Fewest switches: "); argued != (p.Switches >= 0) {
			t.Errorf("%s: switches=%d, argued: %v", p.Dir, p.Switches, argued)
		}
		if p.Clean() {
			continue
		}
		switch p.Kinds[0] {
		case trace.Deadlock, trace.Leak, trace.Hang:
			if !strings.Contains(source.String(), ") "+p.Finding+"(") && !strings.Contains(source.String(), "func "+p.Finding+"(") {
				t.Errorf("%s: no function %s", p.Dir, p.Finding)
			}
		case trace.Test:
			if !strings.Contains(source.String(), p.Finding) {
				t.Errorf("%s: %q is not in the test", p.Dir, p.Finding)
			}
		}
	}
}

// The packages have the name of their directory without its underscores, and use nothing that
// is not in the standard library.
func TestPackages(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 1, false: 2}[p.Main]; len(files) != want {
			t.Errorf("%s: %d files, want %d", p.Dir, len(files), want)
		}
		for _, f := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
			if err != nil {
				t.Error(err)
				continue
			}
			want := strings.ReplaceAll(p.Name, "_", "")
			if p.Main {
				want = "main"
			}
			if parsed.Name.Name != want {
				t.Errorf("%s: package %s, want %s", f, parsed.Name.Name, want)
			}
			for _, i := range parsed.Imports {
				if strings.Contains(strings.Split(i.Path.Value, "/")[0], ".") {
					t.Errorf("%s imports %s", f, i.Path.Value)
				}
			}
		}
	}
}

// What List refuses, by file.
func TestListRefuses(t *testing.T) {
	t.Parallel()
	const doc = "\n\n// Package x is one.\npackage x\n"
	const test = "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n"
	for name, c := range map[string]struct {
		file, content string
		err           string
	}{
		"clean in fail":    {"fail/x/x.go", "// kind: clean" + doc, "cannot be clean"},
		"failing in pass":  {"pass/x/x.go", "// kind: test failure\n// finding: x" + doc, "cannot be expected to fail"},
		"bad header":       {"pass/x/x.go", "package x\n", "x.go: no kind is stated"},
		"no documentation": {"pass/x/x.go", "// kind: clean\n\npackage x\n", "no documentation"},
		"no test":          {"pass/x/x_test.go", "package x\n", "0 tests"},
		"two tests":        {"pass/x/x_test.go", test + "\nfunc TestY(t *testing.T) {}\n", "2 tests"},
		"nothing in a dir": {"pass/y/z.go", "package z\n", "y.go"},
		"a stray file":     {"pass/stray", "", "stray.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(file, content string) {
				t.Helper()
				file = filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, g := range groups {
				if err := os.MkdirAll(filepath.Join(dir, g.dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write("fail/x/x.go", "// kind: test failure\n// finding: x"+doc)
			write("fail/x/x_test.go", test)
			write("pass/x/x.go", "// kind: clean"+doc)
			write("pass/x/x_test.go", test)
			if all, err := List(dir); err != nil || len(all) != 2 {
				t.Fatalf("%+v, %v", all, err)
			}
			write(c.file, c.content)
			if _, err := List(dir); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}
