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

// layers orders the packages, lowest first. A package imports only packages of lower
// layers, except that it may import the package of a parent directory. The test fails for a
// package without a place and for a place without a package.
var layers = [][]string{
	{".", "internal/abi", "internal/docsite", "internal/expectation", "internal/filelock", "internal/godump", "internal/lossless", "internal/report/perfetto/perfettopb", "internal/machine", "internal/regular", "internal/smt", "internal/toolchain/inlineasm", "internal/usage", "internal/wholefile", "internal/wording", "trace/tracepb", "internal/testing/need"},
	{"trace", "internal/suppress", "internal/systemcalls"},
	{"schedule", "internal/ops", "internal/gotool"},
	{"internal/symbol/cxxname"},
	{"internal/symbol/elffile"},
	{"internal/symbol/callsite", "internal/symbol/goname", "internal/symbol/uncontrolled", "internal/symbol/valueflow"},
	{"internal/symbol/dwarfinfo"},
	{"internal/symbol", "internal/target", "internal/target/ipc", "internal/target/goprog/patch", "internal/toolchain"},
	{"internal/target/cprog", "internal/target/goprog", "internal/target/live"},
	{"internal/analysis/hb", "internal/analysis/depend", "internal/analysis/canonical", "internal/analysis/partners", "internal/analysis/waiting"},
	{"internal/analysis/race", "internal/analysis/atomicity", "internal/analysis/causal", "internal/analysis/reversible"},
	{"internal/finding", "internal/observe", "internal/oracle", "internal/pattern", "internal/rapid"},
	{"internal/strategy", "internal/report", "internal/simplify/tinertia", "internal/simplify/static", "internal/simplify/synthetic"},
	{"internal/report/beside"},
	{"internal/report/github", "internal/report/graphviz", "internal/report/junit", "internal/report/markdown", "internal/report/mermaid", "internal/report/page", "internal/report/perfetto", "internal/report/quickfix", "internal/report/sarif", "internal/report/shiviz", "internal/report/term", "internal/simplify/stmt"},
	{"internal/simplify/bintrcred", "internal/simplify/proof", "internal/report/interactive"},
	{"internal/simplify/staticbench", "internal/experiment"},
	{"internal/engine"},
	{"internal/tracefile"},
	{"internal/result"},
	{"internal/launch", "internal/kept", "internal/ignore"},
	{"internal/corpus", "internal/dapserver", "internal/debugger", "internal/doctor", "internal/gotest", "internal/mcpserver"},
	{"internal/testing/expect", "internal/testing/figure5", "internal/testing/ipctest", "internal/testing/ordertest", "internal/testing/reporttest", "internal/testing/runtimecache", "internal/testing/simprog", "internal/testing/tracegen"},
	{"internal/testing/bench", "internal/testing/handmade"},
	{"internal/testing/controllerbench", "internal/testing/ctriggerbench", "internal/testing/endingsbench", "internal/testing/programbench", "internal/testing/racebench", "internal/testing/searchbench"},
	{"internal/testing/contract", "internal/testing/goprograms", "internal/testing/smallprog"},
	{"cmd/heddle", "internal/abi/gen", "internal/docsite/build", "internal/ops/gen", "internal/report/page/gen", "internal/systemcalls/gen"}, // commands: no package can import them
}

// testSupport is the directory of packages that only tests may import.
const testSupport = "internal/testing/"

// startsProcesses are the packages that may start other programs. Analysis, strategies,
// the simplifier and reports are given what they need and start nothing.
var startsProcesses = []string{"internal/oracle", "internal/smt", "internal/toolchain", "internal/gotool", "internal/target", "internal/launch", "internal/debugger", "internal/mcpserver", "cmd", "internal/abi/gen", "internal/testing/need", "internal/testing/bench", "internal/testing/controllerbench", "internal/testing/ctriggerbench", "internal/testing/endingsbench", "internal/testing/programbench", "internal/testing/racebench", "internal/testing/searchbench"}

// layerOf returns the index of pkg's layer, -1 if it has none.
func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, pkg) })
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
	for _, pkg := range slices.Concat(layers...) {
		if !slices.ContainsFunc(ours, func(p listed) bool { dir, _ := local(p.ImportPath); return dir == pkg }) {
			t.Errorf("layers names %s, which does not exist", pkg)
		}
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
			} else if ok && strings.HasPrefix(to, testSupport) && !strings.HasPrefix(from, testSupport) {
				complaints = append(complaints, fmt.Sprintf("%s imports %s, which is for tests only", from, to))
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
		{"internal/analysis/hb", module + "/internal/analysis/race", false},
		{"internal/analysis/hb", module + "/internal/analysis/depend", false},
		{"internal/simplify/tinertia", module + "/internal/simplify/static", false},
		{"internal/target/ipc", module + "/internal/target", true},
		{"internal/target", module + "/internal/target/ipc", false},
		{"internal/target/cprog", module + "/internal/target/ipc", true},
		{"internal/target/cprog", module + "/internal/target/goprog", false},
		{"internal/target", module + "/internal/analysis/race", false},
		{"internal/target/cprog", module + "/internal/analysis/hb", false},
		{"internal/strategy", module + "/internal/engine", false},
		{"internal/report", module + "/internal/engine", false},
		{"internal/engine", module + "/internal/simplify/static", true},
		{"cmd/heddle", module + "/internal/engine", true},
		{"cmd/heddle", module + "/internal/testing/simprog", false},
		{"internal/testing/reporttest", module + "/internal/analysis/depend", true},
		{"internal/util", "fmt", false},
		{"internal/analysis/other", "fmt", false},
		{"cmd/other", "fmt", false},
		{"internal/report", "os/exec", false},
		{"internal/simplify/tinertia", "os/exec", false},
		{"internal/target/cprog", "os/exec", true},
	} {
		p := listed{ImportPath: module + "/" + test.from, Imports: []string{test.imported}}
		if got := violations([]listed{p}); (len(got) == 0) != test.ok {
			t.Errorf("%s imports %s: %q", test.from, test.imported, got)
		}
	}
}
