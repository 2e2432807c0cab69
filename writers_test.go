package heddle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writers are the files that write to the file system by other means than package wholefile, and why each may. Anyone
// may have put a symbolic link where heddle is about to write.
var writers = map[string]string{
	"internal/wholefile/wholefile.go":       "it is the one way",
	"trace/writer.go":                       "a trace grows while it is recorded; links are refused",
	"cmd/heddle/inject.go":                  "results are appended to; links are refused",
	"internal/launch/control.go":            "it only makes new files",
	"internal/tracefile/cause.go":           "it opens a file to see whether it may be written",
	"internal/kept/move.go":                 "it moves files",
	"internal/doctor/doctor.go":             "it tries whether a file can be made",
	"internal/tracefile/writer.go":          "it tries whether a file can be made",
	"internal/launch/trust.go":              "in the cache",
	"internal/launch/goprogram.go":          "in the cache",
	"internal/gotool/build.go":              "in the cache",
	"internal/gotool/flags.go":              "in a folder of the build's own",
	"internal/gotool/root.go":               "in the cache",
	"internal/toolchain/runtime.go":         "in the cache",
	"internal/toolchain/cache.go":           "in the cache",
	"internal/toolchain/assembler.go":       "in the compiler's own folder",
	"internal/target/goprog/patch/patch.go": "in the cache",
	"internal/target/cprog/debug.go":        "in a temporary folder of its own",
	"internal/target/live/control.go":       "in a temporary folder of its own",
	"internal/gotest/cover.go":              "counters, in a temporary folder of its own",
	"internal/debugger/dlv.go":              "a temporary file of its own",
	"internal/analysis/canonical/store.go":  "a temporary file of its own",
	"internal/docsite/site.go":              "make site, in a folder that it makes",
}

func TestWriters(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, root := range []string{"cmd", "internal", "schedule", "trace"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasPrefix(path, "internal/testing/") || strings.Contains(path, "/gen/") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); ok {
					x, ok := f.X.(*ast.Ident)
					if ok && (x.Name == "os" && (f.Sel.Name == "WriteFile" || f.Sel.Name == "Create" || f.Sel.Name == "CreateTemp" || f.Sel.Name == "OpenFile" || f.Sel.Name == "Rename") || x.Name == "renameio") {
						found[path] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path := range found {
		if writers[path] == "" {
			t.Errorf("%s writes by its own means: use package wholefile, or say here why not", path)
		}
	}
	for path := range writers {
		if _, err := os.Stat(path); err != nil || !found[path] {
			t.Errorf("%s does not write any more: remove it here", path)
		}
	}
}
