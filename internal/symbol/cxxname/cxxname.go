// Package cxxname makes the linker's names of C and C++ readable.
package cxxname

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Mangled reports whether a linker's name is one of C++'s: of everything but main.
func Mangled(linkage string) bool { return strings.HasPrefix(linkage, "_Z") }

// longName is the length from which template arguments are left out of a name.
const longName = 60

// Readable is the name a person would use for a linker's name. Names that are not
// mangled come back as they are, without a symbol version.
func Readable(linkage string) string {
	name, _, _ := strings.Cut(linkage, "@")
	opts := []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoABITags, demangle.MaxLength(12)}
	s := demangle.Filter(name, opts...)
	if len(s) > longName && s != name {
		s = demangle.Filter(name, append(opts, demangle.NoTemplateParams)...)
	}
	return s
}

// Reserved reports whether a name belongs to the implementation (C11 7.1.3), so that it
// means nothing to the programmer.
func Reserved(name string) bool {
	return len(name) > 1 && name[0] == '_' && (name[1] == '_' || name[1] >= 'A' && name[1] <= 'Z')
}
