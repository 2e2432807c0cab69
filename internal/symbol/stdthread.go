package symbol

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// threadEntry finds the function that std::thread's threads begin in, which has no symbol in an installed libstdc++:
// std::thread's constructor passes its address to pthread_create, as the third argument.
func threadEntry(path string, code elffile.Symtab) (entries []elffile.Symbol) {
	if !strings.HasPrefix(filepath.Base(path), "libstdc++.so") {
		return nil
	}
	const (
		starts = "_ZNSt6thread15_M_start_thread"
		most   = 512 // bytes of its code that are searched
		size   = 96  // of the entry, at most
	)
	lea := []byte{0x48, 0x8d, 0x15} // lea offset(%rip), %rdx
	for _, s := range code {
		if !strings.HasPrefix(s.Name, starts) {
			continue
		}
		b := elffile.CodeAt(path, s.Addr, min(most, int(s.Size)))
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], lea)
			if at += i; i < 0 || at+7 > len(b) {
				break
			}
			target := s.Addr + uint64(at+7) + uint64(int64(int32(binary.LittleEndian.Uint32(b[at+3:]))))
			_, named := code.Find(target)
			if !named && elffile.CodeAt(path, target, 1) != nil {
				entries = append(entries, elffile.Symbol{Addr: target, Size: code.Gap(target, size), Name: cxxname.ThreadEntry})
			}
		}
	}
	return entries
}
