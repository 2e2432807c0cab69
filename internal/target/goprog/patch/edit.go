package patch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
)

// place says where in a function an edit goes.
type place uint8

const (
	entry     place = iota // before its first statement
	end                    // after its last
	before                 // before each statement that begins with edit.anchor
	after                  // after each statement that begins with edit.anchor
	last                   // before the last statement, which must begin with edit.anchor
	field                  // fn is a struct: add a last field
	calls                  // in the whole file: calls of anchor become calls of code
	gone                   // a function without a body: remove its declaration
	text                   // a function in assembly, or all that match fn's prefix before a *: remove it
	someCalls              // as calls, but the file may contain none
)

// edit is one insertion into a file of Go's own sources. Insertions do not add lines, so that line
// numbers do not change.
type edit struct {
	file   string // below GOROOT/src; of several separated by |, the first that exists
	fn     string // "f", "(*T).m" or a type's name
	at     place
	anchor string // beginning of a statement in the source, white space folded
	code   string
}

// AnchorError reports that a release of Go lacks the anchor text of an edit.
type AnchorError struct {
	File, Func, Anchor string
}

func (e *AnchorError) Error() string {
	s := fmt.Sprintf("%s has no %s", e.File, e.Func)
	if e.Func == "" {
		s = e.File + " is missing"
	}
	if e.Anchor != "" {
		s = fmt.Sprintf("%s in %s has no %q", e.Func, e.File, e.Anchor)
	}
	return s
}

// insertion is text to insert, replacing the next drop bytes.
type insertion struct {
	at   int
	drop int
	text string
	rank int // orders insertions at one place
}

// apply applies the edits of one file.
func apply(name string, src []byte, edits []edit) ([]byte, error) {
	if strings.HasSuffix(name, ".s") {
		return applyAssembly(src, edits)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	file := fset.File(f.Pos())
	var ins []insertion
	for i := range edits {
		more, err := locate(f, file, src, &edits[i])
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			m.rank = i
			ins = append(ins, m)
		}
	}
	sort.SliceStable(ins, func(i, j int) bool {
		if ins[i].at != ins[j].at {
			return ins[i].at < ins[j].at
		}
		return ins[i].rank < ins[j].rank
	})
	var out bytes.Buffer
	pos := 0
	for _, in := range ins {
		out.Write(src[pos:in.at])
		out.WriteString(in.text)
		pos = in.at + in.drop
	}
	out.Write(src[pos:])
	if _, err := parser.ParseFile(token.NewFileSet(), name, out.Bytes(), parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("%s does not take heddle's edits: %w", name, err)
	}
	return out.Bytes(), nil
}

func locate(f *ast.File, file *token.File, src []byte, e *edit) ([]insertion, error) {
	missing := &AnchorError{File: e.file, Func: e.fn, Anchor: e.anchor}
	if e.at == calls || e.at == someCalls {
		var out []insertion
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok && id.Name == e.anchor {
					out = append(out, insertion{at: file.Offset(id.Pos()), drop: len(id.Name), text: e.code})
				}
			}
			return true
		})
		if out == nil && e.at == calls {
			return nil, missing
		}
		return out, nil
	}
	if e.at == field {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if t, ok := s.(*ast.TypeSpec); ok && t.Name.Name == e.fn {
					if st, ok := t.Type.(*ast.StructType); ok {
						return []insertion{{at: file.Offset(st.Fields.Closing), text: e.code + " "}}, nil
					}
				}
			}
		}
		return nil, missing
	}
	fn := function(f, e.fn)
	if e.at == gone {
		missing.Anchor = ""
		if fn == nil || fn.Body != nil {
			return nil, missing
		}
		from, to := file.Offset(fn.Pos()), file.Offset(fn.End())
		if fn.Doc != nil {
			from = file.Offset(fn.Doc.Pos())
		}
		return []insertion{{at: from, drop: to - from, text: strings.Repeat("\n", bytes.Count(src[from:to], []byte("\n")))}}, nil
	}
	if fn == nil || fn.Body == nil {
		missing.Anchor = ""
		return nil, missing
	}
	starts := func(s ast.Stmt) bool {
		text := string(src[file.Offset(s.Pos()):file.Offset(s.End())])
		return strings.HasPrefix(strings.Join(strings.Fields(text), " "), e.anchor)
	}
	switch e.at {
	case entry:
		return []insertion{{at: file.Offset(fn.Body.Lbrace) + 1, text: " " + e.code + ";"}}, nil
	case end:
		return []insertion{{at: file.Offset(fn.Body.Rbrace), text: "; " + e.code + " "}}, nil
	case last:
		n := len(fn.Body.List)
		if n == 0 || !starts(fn.Body.List[n-1]) {
			return nil, missing
		}
		return []insertion{{at: file.Offset(fn.Body.List[n-1].Pos()), text: e.code + "; "}}, nil
	}
	var out []insertion
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if !ok || !starts(s) {
			return true
		}
		switch s.(type) {
		case *ast.BlockStmt, *ast.LabeledStmt:
			return true
		}
		if e.at == before {
			out = append(out, insertion{at: file.Offset(s.Pos()), text: e.code + "; "})
		} else {
			out = append(out, insertion{at: file.Offset(s.End()), text: "; " + e.code})
		}
		return false
	})
	if out == nil {
		return nil, missing
	}
	return out, nil
}

// function returns the declaration of "f" or "(*T).m".
func function(f *ast.File, name string) *ast.FuncDecl {
	recv, method, ok := strings.Cut(name, ").")
	if !ok {
		recv, method = "", name
	}
	recv = strings.TrimPrefix(recv, "(")
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != method {
			continue
		}
		has := ""
		if fn.Recv != nil {
			t := fn.Recv.List[0].Type
			if s, ok := t.(*ast.StarExpr); ok {
				has = "*"
				t = s.X
			}
			if id, ok := t.(*ast.Ident); ok {
				has += id.Name
			}
		}
		if has == recv {
			return fn
		}
	}
	return nil
}

// applyAssembly applies the edits of an assembly file. Its lines keep their numbers.
func applyAssembly(src []byte, edits []edit) ([]byte, error) {
	lines := strings.SplitAfter(string(src), "\n")
	for i := range edits {
		e := &edits[i]
		found := false
		for n := 0; n < len(lines); n++ {
			if !begins(lines[n], e.fn) {
				continue
			}
			found = true
			// Up to the next thing at the beginning of a line that is not a label.
			lines[n] = "\n"
			for n++; n < len(lines) && !outside(lines[n]); n++ {
				lines[n] = "\n"
			}
			n--
		}
		if !found {
			return nil, &AnchorError{File: e.file, Func: e.fn}
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

// begins reports whether a line of assembly begins a function that name matches: "f", or "f*" for
// all with that prefix.
func begins(line, name string) bool {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "TEXT" {
		return false
	}
	fn := words[1][:max(0, strings.IndexAny(words[1], "<("))]
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		return strings.HasPrefix(fn, prefix)
	}
	return fn == name
}

// outside reports whether a line of assembly is not part of the function before it.
func outside(line string) bool {
	return strings.HasPrefix(line, "TEXT") || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#")
}
