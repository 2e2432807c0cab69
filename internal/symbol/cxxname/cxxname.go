// Package cxxname makes the linker's names of C and C++ readable.
package cxxname

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Mangled reports whether a linkage name is a mangled C++ name, which all C++ functions but main
// have.
func Mangled(linkage string) bool { return strings.HasPrefix(linkage, "_Z") }

// ThreadEntry is libstdc++'s name of the function that threads of std::thread begin in.
const ThreadEntry = "execute_native_thread_routine"

// longName is the length from which template arguments are removed from a name.
const longName = 60

// Readable returns the source name for a linkage name. Names that are not mangled are returned
// unchanged, without a symbol version.
func Readable(linkage string) string {
	name, _, _ := strings.Cut(linkage, "@")
	if strings.HasPrefix(name, ThreadEntry) {
		return "std::thread"
	}
	opts := []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoABITags, demangle.MaxLength(12)}
	s := demangle.Filter(name, opts...)
	if len(s) > longName && s != name {
		s = Short(demangle.Filter(name, append(opts, demangle.NoTemplateParams)...))
	}
	return s
}

// Reserved reports whether a name belongs to the implementation (C11 7.1.3), and so means nothing
// to the programmer.
func Reserved(name string) bool {
	return len(name) > 1 && name[0] == '_' && (name[1] == '_' || name[1] >= 'A' && name[1] <= 'Z')
}

// Standard reports whether a linkage name is that of a function of the C++ library.
func Standard(linkage string) bool {
	for _, scope := range []string{"St", "Sa", "9__gnu_cxx", "NSt", "NSa", "N9__gnu_cxx", "NKSt", "NKSa", "NK9__gnu_cxx"} {
		if strings.HasPrefix(linkage, "_Z"+scope) {
			return true
		}
	}
	return false
}

// lambda is a lambda expression in a demangled name, with the types of its parameters.
var lambda = regexp.MustCompile(`\{lambda\([^{}]*\)(#\d+)\}`)

// Short returns a readable name: if it is long, without template arguments, and without the types of the
// parameters of lambda expressions.
func Short(name string) string {
	if len(name) <= longName {
		return name
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '<' && !operator(name[:i]) && !strings.HasPrefix(name[i:], "<-"): // Go has chan<- int
			if depth == 0 && strings.HasPrefix(name[i:], "<lambda") { // gcc's name of a class
				b.WriteString("<lambda>")
			}
			depth++
		case c == '>' && depth > 0 && name[i-1] != '-':
			depth--
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return strings.ReplaceAll(lambda.ReplaceAllString(b.String(), "{lambda$1}"), "()() const::", "()::")
}

// operator reports whether a name continues with the symbol of an operator.
func operator(name string) bool {
	for _, s := range []string{"operator", "operator<"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}
