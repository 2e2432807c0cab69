package abi

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// What the compiler makes of the header today is what abi_gen.go and trace/op_gen.go say.
func TestGeneratedIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, file := range map[string]string{"abi_gen.go": "abi_gen.go", "op_gen.go": "../../trace/op_gen.go",
		"heddle_abi.go": "../../runtime/go/runtime/heddle_abi.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the header gives: run make generate", file)
		}
	}
}

// Go lays the structures out as the C compiler does.
func TestLayout(t *testing.T) {
	for _, s := range []struct {
		name string
		go_  uintptr
		c    int
	}{
		{"Event", unsafe.Sizeof(Event{}), SizeofEvent},
		{"Step", unsafe.Sizeof(Step{}), SizeofStep},
		{"Plan", unsafe.Sizeof(Plan{}), SizeofPlan},
		{"Result", unsafe.Sizeof(Result{}), SizeofResult},
		{"ThreadInfo", unsafe.Sizeof(ThreadInfo{}), SizeofThreadInfo},
		{"Waiter", unsafe.Sizeof(Waiter{}), SizeofWaiter},
		{"Ring", unsafe.Sizeof(Ring{}), SizeofRing},
		{"Module", unsafe.Sizeof(Module{}), SizeofModule},
		{"Shm", unsafe.Sizeof(Shm{}), SizeofShm},
	} {
		if s.go_ != uintptr(s.c) {
			t.Errorf("%s: %d bytes in Go, %d in C", s.name, s.go_, s.c)
		}
	}
	var r Ring
	for _, o := range []struct {
		name string
		go_  uintptr
		c    int
	}{
		{"Ring.Tail", unsafe.Offsetof(r.Tail), OffsetofRingTail},
		{"Shm.PlanRing", unsafe.Offsetof(Shm{}.PlanRing), OffsetofShmPlanRing},
		{"Shm.Modules", unsafe.Offsetof(Shm{}.Modules), OffsetofShmModules},
		{"Event.Mask", unsafe.Offsetof(Event{}.Mask), OffsetofEventMask},
	} {
		if o.go_ != uintptr(o.c) {
			t.Errorf("%s: at %d in Go, %d in C", o.name, o.go_, o.c)
		}
	}
	if OffsetofRingTail%64 != 0 {
		t.Errorf("the cursors of a ring share a cache line")
	}
}

// Numbers and names of operations are part of the trace format: each occurs once.
func TestOperations(t *testing.T) {
	seen := map[string]int{}
	for i, n := range OpNames {
		if n == "" {
			continue
		}
		if j, ok := seen[n]; ok {
			t.Errorf("operations %d and %d are both called %q", j, i, n)
		}
		seen[n] = i
	}
	if len(seen) < 60 {
		t.Errorf("only %d operations", len(seen))
	}
}

// Constants of the header are written there only. Go code names the generated ones, and C
// code includes the header. The test looks for constants that another file defines again:
// the same name, without a prefix, and the same value. (In the Go runtime's hooks, a
// constant with its full name would not compile.)
func TestNothingIsMirrored(t *testing.T) {
	header := headerConstants(t)
	if header["quantum"] != Quantum || header["policypct"] != PolicyPct {
		t.Fatalf("%d constants in abi_gen.go, without those of the scheduler", len(header))
	}
	n := 0
	for _, dir := range []string{"runtime", "schedule", "trace", "internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var found []constant
			switch {
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !bytes.Contains(text, []byte("DO NOT EDIT")):
				found = goConstants(t, path, text)
			case strings.HasSuffix(path, ".c"), strings.HasSuffix(path, ".h") && filepath.Base(path) != "heddle_abi.h":
				found = cConstants(string(text))
			default:
				return nil
			}
			n++
			for _, c := range found {
				if name, ok := mirrors(header, c); ok {
					t.Errorf("%s defines %s = %d, which heddle_abi.h has as %s: use that", path, c.name, c.value, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 200 {
		t.Errorf("only %d files", n)
	}
}

// The test above notices what it is for.
func TestMirrorsAreNoticed(t *testing.T) {
	header := headerConstants(t)
	const source = `package p
type Policy uint8
type Mode uint8
const hdQuantum = 10000
const patience, defaultMaxSteps = 10000, 1 << 20
const lookAhead = 4096 + 0
const spin = 7
const (
	Fair Policy = iota
	Random
	PCT
)
const (
	FlagForced = 1 << 0
	FlagTimeout = 1 << 1
	ClassAcq = iota - 1
)`
	var got []string
	for _, c := range append(goConstants(t, "p.go", []byte(source)), cConstants("enum { QUANTUM = 10000, SPIN = 9, LOOKS = 500 * 2 };\n#define IDLE 16\n")...) {
		if _, ok := mirrors(header, c); ok {
			got = append(got, c.name)
		}
	}
	want := []string{"hdQuantum", "patience", "defaultMaxSteps", "lookAhead", "Random", "PCT", "FlagForced", "FlagTimeout", "ClassAcq", "QUANTUM", "LOOKS", "IDLE"}
	if !slices.Equal(got, want) {
		t.Errorf("noticed %q, want %q", got, want)
	}
}

// constant is one that a source file defines with a value of its own.
type constant struct {
	name  string
	value int64
}

// enumPrefixes begin the names of the generated constants of an enumeration.
var enumPrefixes = []string{"Policy", "Script", "Ev", "Class", "Plan", "Step"}

// headerConstants are the generated constants by their names in lower case.
func headerConstants(t *testing.T) map[string]int64 {
	text, err := os.ReadFile("abi_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, c := range goConstants(t, "abi_gen.go", text) {
		out[strings.ToLower(c.name)] = c.value
	}
	return out
}

// mirrors reports whether a constant is one of the header's again, and what that is called.
// Zeros are alike by chance.
func mirrors(header map[string]int64, c constant) (string, bool) {
	name := strings.ToLower(strings.ReplaceAll(c.name, "_", ""))
	for _, prefix := range []string{"", "hd", "default", "flag"} {
		bare, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		for _, enum := range append([]string{""}, enumPrefixes...) {
			full := strings.ToLower(enum) + bare
			if v, ok := header[full]; ok && v == c.value && v != 0 {
				return full, true
			}
		}
	}
	return "", false
}

// goConstants are the constants that a Go file gives a number of its own, not another
// constant's.
func goConstants(t *testing.T, path string, text []byte) (out []constant) {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		var values []ast.Expr
		for i, spec := range d.Specs {
			s := spec.(*ast.ValueSpec)
			if s.Values != nil {
				values = s.Values
			}
			for k, name := range s.Names {
				if k >= len(values) {
					continue
				}
				if v, ok := number(values[k], int64(i)); ok {
					out = append(out, constant{name.Name, v})
				}
			}
		}
	}
	return out
}

// number evaluates an expression of literals and iota.
func number(e ast.Expr, iota int64) (int64, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v, err := strconv.ParseInt(e.Value, 0, 64)
		return v, err == nil
	case *ast.Ident:
		return iota, e.Name == "iota"
	case *ast.ParenExpr:
		return number(e.X, iota)
	case *ast.BinaryExpr:
		x, ok := number(e.X, iota)
		y, ok2 := number(e.Y, iota)
		if !ok || !ok2 {
			return 0, false
		}
		switch e.Op {
		case token.ADD:
			return x + y, true
		case token.SUB:
			return x - y, true
		case token.MUL:
			return x * y, true
		case token.OR:
			return x | y, true
		case token.SHL:
			return x << (y & 63), true
		}
	}
	return 0, false
}

var cConstant = regexp.MustCompile(`(?:[{,]\s*|#define\s+|\bconst\s+\w+\s+)([A-Z][A-Z0-9_]*)\s*(?:=\s*|\s)\(?(0x[0-9a-fA-F]+|[0-9]+)(?:\s*(<<|\*)\s*([0-9]+))?`)

// cConstants are the numbers to which a C file gives a name in capitals.
func cConstants(text string) (out []constant) {
	for _, m := range cConstant.FindAllStringSubmatch(text, -1) {
		v, _ := strconv.ParseInt(m[2], 0, 64)
		n, _ := strconv.ParseInt(m[4], 0, 64)
		switch m[3] {
		case "<<":
			v <<= n
		case "*":
			v *= n
		}
		out = append(out, constant{m[1], v})
	}
	return out
}
