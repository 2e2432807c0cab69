package heddle_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxOperations is how many operations a switch or a composite literal outside of internal/ops
// may name. A few are distinguished; more are a second table of what operations mean.
const maxOperations = 4

// namesOperations are the files that may name more, and why.
var namesOperations = map[string]string{
	"trace/op_gen.go":                        "generated: the constants themselves",
	"internal/testing/tracegen/machine.go":   "executes programs, independently of internal/ops, which it checks",
	"internal/testing/tracegen/program.go":   "writes programs of all operations",
	"internal/testing/simprog/perform.go":    "executes programs, likewise independently",
	"internal/testing/contract/decisions.go": "a language of test programs: its words for operations",
}

var operation = regexp.MustCompile(`^Op[A-Z]`)

// operationsIn counts the operations that a node names: not those in the bodies of the cases.
func operationsIn(inTrace bool, nodes ...ast.Expr) (n int) {
	for _, node := range nodes {
		ast.Inspect(node, func(node ast.Node) bool {
			switch x := node.(type) {
			case *ast.FuncLit:
				return false
			case *ast.SelectorExpr:
				if p, ok := x.X.(*ast.Ident); ok && p.Name == "trace" && operation.MatchString(x.Sel.Name) {
					n++
				}
				return false
			case *ast.Ident:
				if inTrace && operation.MatchString(x.Name) {
					n++
				}
			}
			return true
		})
	}
	return n
}

// lists are the switches and composite literals of a file that name more than most operations.
func lists(fset *token.FileSet, file *ast.File, most int) (out []string) {
	inTrace := file.Name.Name == "trace"
	found := func(node ast.Node, n int, what string) {
		if n > most {
			out = append(out, fmt.Sprintf("%s: %s names %d operations", fset.Position(node.Pos()), what, n))
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.SwitchStmt:
			n := 0
			for _, c := range x.Body.List {
				n += operationsIn(inTrace, c.(*ast.CaseClause).List...)
			}
			found(x, n, "a switch")
		case *ast.CompositeLit:
			n := 0
			for _, e := range x.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Key
				}
				n += operationsIn(inTrace, e)
			}
			found(x, n, "a composite literal")
		}
		return true
	})
	return out
}

// TestOperationsAreListedInOnePlace keeps what operations mean in internal/ops.
func TestOperationsAreListedInOnePlace(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "internal/ops" || path == "runtime" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		found := lists(fset, file, maxOperations)
		if _, ok := namesOperations[filepath.ToSlash(path)]; ok {
			used[filepath.ToSlash(path)] = len(found) > 0
			return nil
		}
		for _, complaint := range found {
			t.Errorf("%s; what they mean belongs in internal/ops", complaint)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were looked at", files)
	}
	for path := range namesOperations {
		if !used[path] && path != "trace/op_gen.go" {
			t.Errorf("%s is an exception, and names few operations", path)
		}
	}
}

func TestListsNoticesLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		want []string
	}{
		{"switch op {\ncase trace.OpRead, trace.OpWrite:\ncase trace.OpFree:\n}", []string{"a switch names 3 operations"}},
		{"switch op {\ncase trace.OpRead, trace.OpWrite:\n}", nil},
		{"switch {\ncase op == trace.OpRead || op == trace.OpWrite, op == trace.OpFree:\n}", []string{"a switch names 3 operations"}},
		{"switch op {\ncase ops.Read, ops.Write, ops.Free:\n}", nil},
		{"switch op {\ncase trace.OpRead:\n\tf(trace.OpWrite, trace.OpFree, trace.OpMalloc)\n}", nil},
		{"_ = map[trace.Op]int{trace.OpRead: 1, trace.OpWrite: 2, trace.OpFree: 3}", []string{"a composite literal names 3 operations"}},
		{"_ = []trace.Op{trace.OpRead, trace.OpWrite, trace.OpFree}", []string{"a composite literal names 3 operations"}},
		{"_ = trace.Event{Op: trace.OpRead}", nil},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", "package x\nfunc f() {\n"+c.code+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range lists(fset, file, 2) {
			got = append(got, s[strings.Index(s, ": ")+2:])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}
