package toolchain

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// told are the beginnings of the names of libraries that synchronise threads by means of their own,
// and whose order of threads the runtime tells the analyses (runtime/c/libraries).
var told = []string{"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so", "libtbb.so", "libglib-2.0.so"}

// untold are such libraries that it knows nothing about. Their threads are controlled, by the
// system calls they wait with.
var untold = []string{"libQt5Core.so", "libQt6Core.so", "libabsl_synchronization.so", "libfolly.so", "libfolly_", "libboost_fiber.so", "libdispatch.so"}

// seen are libraries that may wait by the same means, and whose synchronisation the runtime
// interposes.
var seen = []string{"libc.so", "libc-", "libpthread", "librt", "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so", "libm.so", "ld-linux", "libtsan.so"}

func begins(name string, with []string) bool {
	return slices.ContainsFunc(with, func(s string) bool { return strings.HasPrefix(name, s) })
}

// Untold reports whether the library at path may synchronise threads by means of its own that the
// runtime does not tell the analyses: it is known to, or it has no access hooks and refers to a
// function that such means wait with, sched_yield or syscall. A file that cannot be read does not.
func Untold(path string) bool {
	base := filepath.Base(path)
	if begins(base, untold) {
		return true
	}
	if begins(base, told) || begins(base, seen) {
		return false
	}
	if known, ok := untoldFiles.Load(path); ok {
		return known.(bool)
	}
	waits := waitsUnseen(path)
	untoldFiles.Store(path, waits)
	return waits
}

var untoldFiles sync.Map // path → bool; a library does not change while a program uses it

func waitsUnseen(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return false
	}
	waits := false
	for _, s := range symbols {
		switch s.Name {
		case "sched_yield", "syscall":
			waits = true
		case "__tsan_init", "__tsan_func_entry":
			return false
		}
	}
	return waits
}
