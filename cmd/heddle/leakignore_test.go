package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// --leak-ignore names a function that a goroutine was started in, or any on its stack, as the
// line about the leak prints them.
func TestGoLeakIgnore(t *testing.T) {
	t.Parallel()
	dir := goModule(t)
	source := `package ignore

import "testing"

type T struct{ c chan int }

func (t *T) worker() { <-t.c }

func idle(c chan int) { <-c }

//go:noinline
func wait(c chan int) { <-c }

func helper() { go idle(make(chan int)) }

func TestMethod(*testing.T)  { go (&T{make(chan int)}).worker() }
func TestNamed(*testing.T)   { c := make(chan int); go idle(c) }
func TestClosure(*testing.T) { c := make(chan int); go func() { wait(c) }() }
func TestStarter(*testing.T) { helper() }
`
	if err := os.WriteFile(filepath.Join(dir, "ignore_test.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{ // the tests that still leak
		"(*T).worker": "TestNamed TestClosure TestStarter",
		".idle":       "TestMethod TestClosure",
		".wait":       "TestMethod TestNamed TestStarter",
		".helper":     "TestMethod TestNamed TestClosure",
	} {
		tests, _ := runTest(t, dir, nil, exitNothing, "-count=3", "--leak-ignore="+name)
		var left []string
		for _, r := range tests {
			if len(r.Leaks) > 0 {
				left = append(left, r.Test)
			}
		}
		if got := strings.Join(left, " "); len(tests) != 4 || got != want {
			t.Errorf("%s: %d tests; %s leak, want %s", name, len(tests), got, want)
		}
	}
	out, err := heddleCommand(t, dir, nil, "test", "-count=3", "--leak-ignore=.idle", "--leak-ignore=pool.missing").CombinedOutput()
	if note := "note: --leak-ignore=pool.missing has no effect"; err != nil || !strings.Contains(string(out), note) || strings.Contains(string(out), "--leak-ignore=.idle has") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each go statement is a leak of its own: two on one line, and two whose goroutines wait at the same
// place. One that is executed twice is one.
func TestGoLeaksOfStatements(t *testing.T) {
	t.Parallel()
	dir := goModule(t)
	source := `package statements

import "testing"

func TestLine(*testing.T)  { c := make(chan int); go wait(c); go wait(c) }
func TestLoop(*testing.T)  { c := make(chan int); for range 2 { go wait(c) } }
func TestLines(*testing.T) {
	c := make(chan int)
	go wait(c)
	go wait(c)
}

func wait(c chan int) { <-c }
`
	if err := os.WriteFile(filepath.Join(dir, "statements_test.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	tests, packages := runTest(t, dir, nil, exitNothing, "-count=3")
	for _, r := range tests {
		want := 2
		if r.Test == "TestLoop" {
			want = 1
		}
		if len(r.Leaks) != want {
			t.Errorf("%s: %+v, want %d leaks", r.Test, r.Leaks, want)
		}
		for _, l := range r.Leaks {
			if l.Known {
				t.Errorf("%s: a leak counts as known: %+v", r.Test, l)
			}
		}
	}
	if len(packages) != 1 || len(packages[0].Leaks) != 5 {
		t.Errorf("%+v, want 5 leaks in one package", packages)
	}
}
