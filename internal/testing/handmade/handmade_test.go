package handmade

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

var count = flag.Int("programs", 6*len(families), "generate this many programs")

// generate makes the same programs in each test: each family with each bug, and correct.
func generate(t *testing.T) []*Program {
	t.Helper()
	programs, err := Generate(*count, Options{Seed: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// What the generator says of a program is what the graph of its states shows.
func TestTruth(t *testing.T) {
	t.Parallel()
	large := 0
	for _, p := range generate(t) {
		truth, err := p.Truth(100_000)
		if errors.Is(err, ErrTooLarge) {
			t.Logf("%s: too large", p)
			large++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		stuck := truth.Deadlock || truth.Hang || truth.Livelock
		switch {
		case !truth.Ends:
			t.Errorf("%s never ends: %+v\n%s", p, truth, p.Text)
		case p.Verdict == Correct && !truth.Correct(), p.Verdict == Stuck && (truth.Failed || !stuck), p.Verdict == Wrong && truth.Correct():
			t.Errorf("%s: %+v\n%s", p, truth, p.Text)
		}
	}
	if large > *count/10 {
		t.Errorf("%d of %d programs have too many states", large, *count)
	}
}

// Correct programs, as C and C++, end as they should without heddle.
func TestNative(t *testing.T) {
	t.Parallel()
	need.Tool(t, "gcc", "g++")
	dir := t.TempDir()
	for _, style := range Styles {
		t.Run(style.Name, func(t *testing.T) {
			t.Parallel()
			var programs []*Program
			for _, p := range generate(t) {
				if p.Verdict == Correct && !p.Starves && p.Style.Name == style.Name {
					programs = append(programs, p)
				}
			}
			source, command := filepath.Join(dir, style.Name+".c"), []string{"gcc"}
			if style.CXX {
				source, command = filepath.Join(dir, style.Name+".cc"), []string{"g++", "-std=c++17"}
			}
			if err := os.WriteFile(source, []byte(Source(programs)), 0o600); err != nil {
				t.Fatal(err)
			}
			binary := filepath.Join(dir, style.Name)
			args := append(command[1:], "-O1", "-pthread", "-o", binary, source)
			if msg, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			for i, p := range programs {
				run := exec.CommandContext(t.Context(), binary, strconv.Itoa(i))
				run.WaitDelay = time.Second
				if msg, err := run.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s\n%s", p, err, msg, Source([]*Program{p}))
				}
			}
		})
	}
}

// The same options make the same programs.
func TestGenerate(t *testing.T) {
	t.Parallel()
	a, b := generate(t), generate(t)
	for i, p := range a {
		if Source([]*Program{p}) != Source([]*Program{b[i]}) {
			t.Fatalf("program %d differs", i)
		}
	}
	if _, err := Generate(1, Options{Families: []string{"nothing"}}); err == nil {
		t.Error("an unknown family is accepted")
	}
}

// Sources that are not of the language are refused.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"atom x", "atom x; void body() { store(y, 1); }", "plain x; void body() { load(x); }", "void body() { break; }",
		"void body() { wait(1); }", "void body() {", "atom a[2]; void body() { load(a); }", "void body() { f(); }", "float x;", "void body() { int a = ; }",
	} {
		u, err := parse(source + " void worker(int me) { }")
		if err == nil {
			_, err = compileProgram(u)
		}
		if err == nil {
			t.Errorf("%s is accepted", source)
		}
	}
}
