package heddle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/heddle-dev/heddle"

// layers is the order of the packages, lowest first. A package imports only packages of
// lower layers, never of its own, except its parent directory's. Whatever lies below a
// directory of the layer before "children" and is not named here belongs to "children".
// A new package that no line covers fails the test: give it a place.
var layers = [][]string{
	{".", "internal/abi", "internal/regular", "trace/tracepb"},
	{"trace"},
	{"schedule"},
	{"internal/symbol"},
	{"internal/analysis/hb", "internal/analysis/lockset"},
	{"internal/analysis/race", "internal/analysis/atomicity", "internal/analysis/depend"},
	{"internal/finding", "internal/observe"},
	{"internal/canon", "internal/std", "internal/strategy", "internal/simplify", "internal/target", "internal/target/wire", "internal/report", "internal/toolchain", "internal/gotool", "internal/goprograms"},
	{"children"},
	{"internal/campaign"},
	{"cmd/heddle", "internal/abi/gen"}, // commands: nobody can import them
}

const children = 8 // index into layers

// startsProcesses are the packages that may start other programs. Analysis, strategies,
// the simplifier and reports are given what they need and start nothing.
var startsProcesses = []string{"internal/toolchain", "internal/gotool", "internal/target", "cmd", "internal/abi/gen"}

// layerOf is a package's place in the table, -1 if it has none.
func layerOf(pkg string) int {
	for i, layer := range layers {
		if slices.Contains(layer, pkg) {
			return i
		}
	}
	for _, parent := range layers[children-1] {
		if strings.HasPrefix(pkg, parent+"/") {
			return children
		}
	}
	return -1
}

// mayImport reports whether the table lets from import to; both are in it.
func mayImport(from, to string) bool {
	return layerOf(to) < layerOf(from) || strings.HasPrefix(from, to+"/")
}

type listed struct {
	ImportPath string
	Imports    []string
}

// list runs go list -deps over the module. A package that does not build at the moment is
// still listed, with the imports that could be read.
func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Imports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// local is a package's directory in the module, false if it is none of ours.
func local(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func TestLayers(t *testing.T) {
	t.Parallel()
	var ours []listed
	for _, p := range list(t) {
		if _, ok := local(p.ImportPath); ok {
			ours = append(ours, p)
		}
	}
	if len(ours) < 5 {
		t.Fatalf("go list found %d packages of %s", len(ours), module)
	}
	for _, complaint := range violations(ours) {
		t.Error(complaint)
	}
}

// violations checks packages against the table.
func violations(packages []listed) (complaints []string) {
	for _, p := range packages {
		from, _ := local(p.ImportPath)
		if layerOf(from) < 0 {
			complaints = append(complaints, fmt.Sprintf("%s is in no layer: give it a place in the table in layers_test.go", from))
			continue
		}
		for _, imported := range p.Imports {
			if to, ok := local(imported); ok && layerOf(to) >= 0 && !mayImport(from, to) {
				complaints = append(complaints, fmt.Sprintf("%s imports %s, which is not in a lower layer", from, to))
			}
			if imported == "os/exec" && !slices.ContainsFunc(startsProcesses, func(dir string) bool { return from == dir || strings.HasPrefix(from, dir+"/") }) {
				complaints = append(complaints, fmt.Sprintf("%s imports os/exec, but it must not start programs", from))
			}
		}
	}
	return complaints
}

// The table's rules, on imports that do not exist.
func TestLayersNoticeViolations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, imported string
		ok             bool
	}{
		{"schedule", module + "/trace", true},
		{"trace", module + "/schedule", false},
		{"internal/abi", module + "/trace", false},
		{"internal/analysis/race", module + "/internal/analysis/hb", true},
		{"internal/analysis/race", module + "/internal/analysis/depend", false},
		{"internal/analysis/hb", module + "/internal/analysis/lockset", false},
		{"internal/simplify/tinertia", module + "/internal/simplify", true},
		{"internal/simplify", module + "/internal/simplify/tinertia", false},
		{"internal/simplify/tinertia", module + "/internal/simplify/static", false},
		{"internal/simplify/static/inner", module + "/internal/simplify/static", true},
		{"internal/target", module + "/internal/analysis/race", true},
		{"internal/strategy", module + "/internal/target", false},
		{"internal/target/cprog", module + "/internal/toolchain", true},
		{"internal/report/html", module + "/internal/campaign", false},
		{"internal/campaign", module + "/internal/report/term", true},
		{"cmd/heddle", module + "/internal/campaign", true},
		{"internal/util", "fmt", false},
		{"internal/analysis/other", "fmt", false},
		{"cmd/other", "fmt", false},
		{"internal/report", "os/exec", false},
		{"internal/simplify/tinertia", "os/exec", false},
		{"internal/target/cprog", "os/exec", true},
		{"internal/targetting", "os/exec", false},
	} {
		p := listed{ImportPath: module + "/" + test.from, Imports: []string{test.imported}}
		if got := violations([]listed{p}); (len(got) == 0) != test.ok {
			t.Errorf("%s imports %s: %q", test.from, test.imported, got)
		}
	}
}
