package toolchain

import "strings"

// keepsBitcode reports whether the command line asks for bitcode itself, or for a sanitizer that clang has only with link-time
// optimisation.
func (l cmdline) keepsBitcode() bool {
	for s := range l.sanitizers {
		if strings.HasPrefix(s, "cfi") {
			return true
		}
	}
	return l.emitsLLVM
}

// withoutLTO removes the options with which clang compiles to bitcode, those that exist only together with them, and the choice of
// clang's own assembler. Of all of them, machine code comes into being past the assembler that adds hooks to inline assembly
// (internal/toolchain/inlineasm).
func withoutLTO(args []string) []string {
	var out []string
	for _, arg := range args {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "-flto", "-fwhole-program-vtables", "-fvirtual-function-elimination", "-fsplit-lto-unit", "-integrated-as", "-fintegrated-as":
		default:
			out = append(out, arg)
		}
	}
	return out
}
