package toolchain

import (
	"slices"
	"strings"
)

// told are the beginnings of the names of libraries that synchronise threads by means of their own,
// and whose order of threads the runtime tells the analyses (runtime/c/libraries).
var told = []string{"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so", "libtbb.so", "libglib-2.0.so"}

// untold are such libraries that it knows nothing about. Their threads are controlled, by the
// system calls they wait with.
var untold = []string{"libQt5Core.so", "libQt6Core.so", "libabsl_synchronization.so", "libfolly.so", "libfolly_", "libboost_fiber.so", "libdispatch.so"}

// Libraries returns the libraries the program asks for that synchronise threads by means that
// access hooks do not see: known, if the runtime knows what they order, and unknown, if it does not,
// so that data races which heddle reports may be false.
func (p Program) Libraries() (known, unknown []string) {
	for _, lib := range p.Needed {
		is := func(name string) bool { return strings.HasPrefix(lib, name) }
		switch {
		case slices.ContainsFunc(told, is):
			known = append(known, lib)
		case slices.ContainsFunc(untold, is):
			unknown = append(unknown, lib)
		}
	}
	return known, unknown
}
