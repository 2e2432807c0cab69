package launch

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestHarmless: of recipes from other users, only those that build and write nothing else are
// accepted, in the current form and as an old command line.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]bool{
		"-tags=a,b": true, "-mod=vendor": true, "-modfile=go.alt.mod": true, "-ldflags=-s -w -X main.v=1": true, "-ldflags=all=-X=main.v=1": true,
		"-gcflags=all=-N -l": true, "-gcflags=-N": true, "-pgo=off": true, "-p=4": true, "-vet=off": true, "-trimpath": true, "-short": true,
		"-tags=a -toolexec=x": false, "-mod=/x": false, "-modfile=/tmp/go.mod": false, "-modfile=../go.mod": false, "-overlay=o.json": false,
		"-ldflags=-extld=/tmp/x": false, "-ldflags=-X main.v=1 -extld=/tmp/x": false, "-ldflags=-o=/tmp/x": false, "-ldflags=-X 'a=b -extld=x'": false, "-ldflags=-linkmode=external": false,
		"-ldflags=-X -extld=x": false, "-gcflags=-o=/tmp/x": false, "-gcflags=all=-N -o=/tmp/x": false, "-gcflags=-cpuprofile=/tmp/x": false, "-gcflags=-l\n-o=x": false,
		"-asmflags=-o=/tmp/x": false, "-pgo=/etc/passwd": false, "-p=x": false, "-vet=-x": false,
		"-toolexec=/tmp/x": false, "-exec=/tmp/x": false, "-o=/tmp/x": false, "-pkgdir=/tmp/x": false, "-compiler=gccgo": false,
	} {
		r, err := RecipeOf(trace.Run{Command: []string{"heddle", "test", flag, "-run=X", "./p"}}, ".")
		if err == nil {
			err = harmless(r)
		}
		if (err == nil) != want {
			t.Errorf("%q: %v", flag, err)
		}
		if flag == "-short" || flag == "-vet=off" || flag == "-vet=-x" {
			continue // fields of their own
		}
		if err := harmless(&trace.Recipe{Kind: trace.RecipeTest, Flags: []string{"-tags=a", flag}}); (err == nil) != want {
			t.Errorf("%q in a recipe: %v", flag, err)
		}
	}
	for _, flag := range []string{"", "tags=a", "./evil", "--tags=a", "-trimpath=/x", "-", "-o", "@x"} {
		if harmless(&trace.Recipe{Kind: trace.RecipeTest, Flags: []string{flag}}) == nil {
			t.Errorf("%q in a recipe passes", flag)
		}
	}
	for flag, want := range map[string]bool{"-cover": true, "-covermode=set": true, "-coverpkg=./...,a.test/b": true, "-cover=x": false, "-covermode=-x": false, "-coverpkg=a b": false, "-coverprofile=/x": false} {
		if err := harmless(&trace.Recipe{Kind: trace.RecipeTest, Flags: []string{flag}}); (err == nil) != want {
			t.Errorf("%q in a recipe: %v", flag, err)
		}
	}
	if harmless(&trace.Recipe{Kind: trace.RecipeTest, Exec: []string{"env"}}) == nil {
		t.Error("a command of -exec passes")
	}
	for arg, want := range map[string]bool{"": true, "-v=3": true, "x": true, "test.x": true, "-test.coverprofile=/x": false, "--test.outputdir=/x": false} {
		if err := harmless(&trace.Recipe{Kind: trace.RecipeTest, Args: []string{arg}}); (err == nil) != want {
			t.Errorf("argument %q: %v", arg, err)
		}
	}
	for variable, want := range map[string]bool{
		"CGO_ENABLED=1": false, "GOAMD64=v3": true, "GOAMD64=v9": false, "GOEXPERIMENT=rangefunc,nocoverageredesign": true, "GOEXPERIMENT=-x": false,
		"GOFLAGS=-toolexec=/tmp/x": false, "CC=/tmp/x": false, "PATH=/tmp": false, "LD_PRELOAD=/tmp/x": false, "": false,
	} {
		if err := harmless(&trace.Recipe{Kind: trace.RecipeProgram, Env: []string{variable}}); (err == nil) != want {
			t.Errorf("variable %q: %v", variable, err)
		}
	}
	for vet, want := range map[string]bool{"": true, "off": true, "atomic,bool": true, "-vettool=/tmp/x": false} {
		if err := harmless(&trace.Recipe{Kind: trace.RecipeTest, Vet: vet}); (err == nil) != want {
			t.Errorf("vet %q: %v", vet, err)
		}
	}
	for what, want := range map[string]bool{"./p": true, "a.test/p": true, "-toolexec=/tmp/x": false, "--": false} {
		if _, err := RecipeOf(trace.Run{Recipe: &trace.Recipe{Kind: trace.RecipeTest, Tool: "go", Packages: []string{what}}}, "."); (err == nil) != want {
			t.Errorf("package %q: %v", what, err)
		}
	}
}

// TestRecipeRefused: a recipe that this version cannot build is rejected.
func TestRecipeRefused(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]trace.Recipe{
		`unknown build tool "cargo"; use the heddle that recorded it`:                {Kind: trace.RecipeTest, Tool: "cargo", Packages: []string{"p"}},
		`unknown kind of build "fuzz"; use the heddle that recorded it`:              {Kind: "fuzz", Tool: "go", Packages: []string{"p"}},
		`no packages in "heddle find --"`:                                            {Kind: trace.RecipeProgram, Tool: "go"},
		`unknown handling of leaked goroutines "x"; use the heddle that recorded it`: {Kind: trace.RecipeTest, Tool: "go", Packages: []string{"p"}, Leaks: "x"},
	} {
		if _, err := RecipeOf(trace.Run{Recipe: &r}, "."); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSignature: the signature covers everything that is run, and is valid for one user.
func TestSignature(t *testing.T) {
	t.Parallel()
	l, other := &Launcher{Cache: t.TempDir()}, &Launcher{Cache: t.TempDir()}
	h := trace.Header{Target: "c", Command: []string{"/p", "a"}, Dir: "/d", Isolation: "fork", Strategy: "fair"}
	l.sign(&h)
	if !l.signed(&h) || other.signed(&h) {
		t.Fatalf("own: %t, another's: %t", l.signed(&h), other.signed(&h))
	}
	if info, err := os.Stat(filepath.Join(l.Cache, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	for what, change := range map[string]func(*trace.Header){
		"target": func(h *trace.Header) { h.Target = "go" }, "argument": func(h *trace.Header) { h.Command = []string{"/p", "b"} },
		"words": func(h *trace.Header) { h.Command = []string{"/p a"} }, "directory": func(h *trace.Header) { h.Dir = "/" },
		"input": func(h *trace.Header) { h.Stdin = []byte("x") }, "empty input": func(h *trace.Header) { h.Stdin = []byte{} },
		"calls": func(h *trace.Header) { h.Omit = []string{"x"} }, "locks": func(h *trace.Header) { h.TryLock = []string{"x"} }, "bytes": func(h *trace.Header) { h.Command = []string{"/p", "a\xff"} },
		"name": func(h *trace.Header) { h.Argv0 = "q" }, "oracle": func(h *trace.Header) { h.Oracle = "true" },
		"isolation": func(h *trace.Header) { h.Isolation = "" }, "signature": func(h *trace.Header) { h.Signature = "" },
		"recipe": func(h *trace.Header) { h.Recipe = &trace.Recipe{} },
	} {
		changed := h
		if change(&changed); l.signed(&changed) {
			t.Errorf("another %s keeps the signature", what)
		}
	}
	h.Strategy, h.Original = "other", "file"
	if !l.signed(&h) {
		t.Error("what does not decide what is run is part of it")
	}
	testRecipeSigned(t, l)

	// A key that another user made does not count.
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(other.Cache, keyFile), 12345, -1); err != nil {
			t.Fatal(err)
		}
		if why := other.foreign(&h); !strings.Contains(why, "belongs to another user") {
			t.Error(why)
		}
		if err := os.Chown(filepath.Join(other.Cache, keyFile), 0, -1); err != nil {
			t.Fatal(err)
		}
	}

	// Without a key, nobody can say.
	if err := os.Chmod(filepath.Join(other.Cache, keyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, why := range map[string]string{
		"not known (":              other.foreign(&h),
		"has no signature":         l.foreign(&trace.Header{}),
		"you on this machine, and": l.foreign(&trace.Header{Signature: h.Signature}),
	} {
		if !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

// testRecipeSigned changes every field of what is run, and of a recipe, in turn.
func testRecipeSigned(t *testing.T, l *Launcher) {
	h := trace.Header{Target: "go", Recipe: &trace.Recipe{}}
	l.sign(&h)
	runs := reflect.TypeFor[trace.Run]()
	for i := range runs.NumField() {
		changed := h
		switch f := reflect.ValueOf(&changed).Elem().FieldByName(runs.Field(i).Name); f.Type() {
		case reflect.TypeFor[string]():
			f.SetString("\xff")
		case reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([]string{"x"}))
		case reflect.TypeFor[[]byte]():
			f.Set(reflect.ValueOf([]byte("x")))
		case reflect.TypeFor[*trace.Recipe]():
			f.SetZero()
		default:
			t.Fatalf("%s is of a type that this test cannot change", runs.Field(i).Name)
		}
		if l.signed(&changed) {
			t.Errorf("another %s keeps the signature", runs.Field(i).Name)
		}
	}
	fields := reflect.TypeFor[trace.Recipe]()
	for i := range fields.NumField() {
		var r trace.Recipe
		switch f := reflect.ValueOf(&r).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("\xff")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int:
			f.SetInt(1)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		default:
			t.Fatalf("%s is of a kind that this test cannot change", fields.Field(i).Name)
		}
		changed := h
		if changed.Recipe = &r; l.signed(&changed) {
			t.Errorf("another %s keeps the signature", fields.Field(i).Name)
		}
	}
}
