package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/trace"
)

// TestTrust: another user's trace does not run until the user allows it.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	ran, file := filepath.Join(dir, "ran"), filepath.Join(dir, "x.hdl")
	for _, h := range []trace.Header{
		{Target: "c", Command: []string{"/bin/sh", "-c", "touch " + ran}, Dir: dir},
		{Target: "go", Command: []string{"heddle", "test", "-gcflags=-o=" + ran, "-run=X", "."}, Dir: dir},
		{Target: "go", Command: []string{"heddle", "find", "--", "-toolexec=/bin/touch " + ran}, Dir: dir},
		{Target: "go", Recipe: &trace.Recipe{Kind: trace.RecipeTest, Tool: "go", Flags: []string{"-gcflags=-o=" + ran}, Run: "X", Packages: []string{"."}}, Dir: dir},
		{Target: "go", Recipe: &trace.Recipe{Kind: trace.RecipeProgram, Tool: "go", Packages: []string{"-toolexec=/bin/touch " + ran}}, Dir: dir},
		{Target: "go", Recipe: &trace.Recipe{Kind: trace.RecipeProgram, Tool: "/bin/touch", Args: []string{ran}, Packages: []string{"."}}, Dir: dir},
	} {
		tr := hostile("", filepath.Join(dir, "gone"))
		tr.Header.Target, tr.Header.Command, tr.Header.Recipe, tr.Header.Dir = h.Target, h.Command, h.Recipe, h.Dir
		if err := trace.WriteFile(file, tr); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"replay"}, {"simplify"}, {"replay", "--dlv"}, {"replay", "--gdb"}, {"replay", "--changed"}, {"replay", "--race-report"}, {"show"}} {
			cmd := exec.Command("heddle", append(args, file)...)
			cmd.Env = append(os.Environ(), "HEDDLE_CACHE="+cache)
			out, _ := cmd.CombinedOutput()
			if args[0] != "show" && (!bytes.Contains(out, []byte("--trust")) || cmd.ProcessState.ExitCode() != exitFailed) {
				t.Errorf("heddle %q of %q: %s", args, h.Command, out)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Fatalf("heddle %q ran %q, %+v", args, h.Command, h.Recipe)
			}
		}
	}
}

// hostile is a trace in which every string is evil.
func hostile(evil, path string) *trace.Trace {
	site := trace.MakeSite(0, 16)
	return &trace.Trace{
		Header: trace.Header{
			Target: "c", PointsVersion: 2, Command: []string{path, "x"}, Dir: path,
			Stdin: []byte(evil), Env: []string{"A=" + evil}, EnvDigest: evil, BuildID: evil, Strategy: evil, Heddle: evil,
			Original: evil, Isolation: evil, Omit: []string{evil}, TryLock: []string{evil}, Signature: evil,
			Recipe: &trace.Recipe{
				Kind: trace.RecipeTest, Tool: "go", Flags: []string{"-tags=" + evil}, Env: []string{"GOAMD64=" + evil}, Packages: []string{evil}, Args: []string{evil},
				Vet: evil, Run: evil, Skip: evil, LeakIgnore: []string{evil},
			},
		},
		Modules: []trace.Module{{Path: path, BuildID: evil, Program: true}},
		Threads: []trace.Thread{{ID: 0, Parent: -1, Label: evil}},
		Stacks:  [][]trace.Site{nil},
		Events:  []trace.Event{{Op: trace.OpAbort, Site: site, Enabled: trace.ThreadSet{Low: 1}}},
		Ending:  trace.Ending{Kind: trace.Assertion, Site: site, Message: evil, Output: []byte(evil)},
	}
}

// stringsOf are pointers to all strings of a value, and the byte slices.
func stringsOf(v reflect.Value, name string, found func(name string, set func(string))) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			stringsOf(v.Elem(), name, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			stringsOf(v.Field(i), name+"."+v.Type().Field(i).Name, found)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			found(name, func(s string) { v.SetBytes([]byte(s)) })
			return
		}
		for i := range v.Len() {
			stringsOf(v.Index(i), fmt.Sprintf("%s[%d]", name, i), found)
		}
	case reflect.String:
		found(name, v.SetString)
	}
}

// TestNothingReachesTheTerminal: whatever a trace's strings hold, no command lets through what
// a terminal would act on: every string field in turn, every command that reads traces.
func TestNothingReachesTheTerminal(t *testing.T) {
	dir := t.TempDir()
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\x7f\r\b"
	cache, err := toolchain.CacheDir(filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	stringsOf(reflect.ValueOf(hostile("x", "/gone")), "trace", func(name string, _ func(string)) { fields = append(fields, name) })
	if len(fields) < 17 {
		t.Fatalf("only %q", fields)
	}
	for _, field := range append(fields, "all") {
		for _, target := range []string{"c", "go", "go of before recipes"} {
			tr := hostile("x", "/gone")
			tr.Header.Target = target
			switch target {
			case "go":
				tr.Header.Command = nil
			case "c":
				tr.Header.Recipe = nil
			default:
				tr.Header.Target, tr.Header.Recipe = "go", nil
				tr.Header.Command = []string{"heddle", "test", "-run=X", "./p"}
			}
			stringsOf(reflect.ValueOf(tr), "trace", func(name string, set func(string)) {
				if name == field || field == "all" {
					set(evil)
				}
			})
			file := filepath.Join(dir, "x.hdl")
			if err := trace.WriteFile(file, tr); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"show"}, {"show", "--json"}, {"show", "--text"}, {"replay", "--trust"}, {"replay"}, {"replay", "--trust", "--json"},
				{"simplify", "--trust"}, {"simplify", "--static"}, {"simplify", "--static", "--json"}, {"convert", "--json"},
			} {
				words := append([]string{"heddle", "--cache=" + cache}, append(args, file)...)
				if args[0] == "convert" {
					words = append(words, filepath.Join(dir, "out.std"))
				}
				var out bytes.Buffer
				run(t.Context(), words, &out, &out)
				if at := strings.IndexFunc(out.String(), func(r rune) bool {
					return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
				}); at >= 0 {
					t.Errorf("%s in %s, heddle %q: %q", field, target, args, out.String()[max(0, at-40):min(out.Len(), at+40)])
				}
			}
		}
	}
}
