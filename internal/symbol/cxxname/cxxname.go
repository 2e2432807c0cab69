package symbol

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// manglePrefix starts the linker's name of everything in C++ but main.
const manglePrefix = "_Z"

// longName is the length from which template arguments are left out of a name.
const longName = 60

// readable is the name a person would use for a linker's name. Names that are not
// mangled come back as they are, without a symbol version.
func readable(linkage string) string {
	name, _, _ := strings.Cut(linkage, "@")
	opts := []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoABITags, demangle.MaxLength(12)}
	s := demangle.Filter(name, opts...)
	if len(s) > longName && s != name {
		s = demangle.Filter(name, append(opts, demangle.NoTemplateParams)...)
	}
	return s
}
