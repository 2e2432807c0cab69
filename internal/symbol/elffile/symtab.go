package symbol

import (
	"debug/elf"
	"sort"
	"strings"
)

// symtab is an address-ordered symbol table, one symbol per address.
type symtab []elfSymbol

type elfSymbol struct {
	addr, size uint64
	name       string
	rank       int // which of several names for an address to prefer; smaller is better
}

// newSymtabs splits symbols into code and data and orders them.
func newSymtabs(symbols []elf.Symbol) (code, data symtab) {
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Section == elf.SHN_ABS || s.Name == "" || s.Value == 0 {
			continue
		}
		name, _, _ := strings.Cut(s.Name, "@")
		e := elfSymbol{addr: s.Value, size: s.Size, name: name, rank: symbolRank(s)}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC, elf.STT_LOOS: // STT_LOOS is STT_GNU_IFUNC
			code = append(code, e)
		case elf.STT_OBJECT:
			data = append(data, e)
		case elf.STT_NOTYPE:
			// Hand-written assembly leaves its labels untyped.
			code = append(code, e)
			if s.Size > 0 {
				data = append(data, e)
			}
		}
	}
	return code.ordered(), data.ordered()
}

// symbolRank prefers typed over untyped, sized over bare, global over weak over local
// names, and then names that the programmer wrote over reserved ones.
func symbolRank(s elf.Symbol) int {
	r := 0
	if elf.ST_TYPE(s.Info) == elf.STT_NOTYPE {
		r += 16
	}
	if s.Size == 0 {
		r += 8
	}
	switch elf.ST_BIND(s.Info) {
	case elf.STB_LOCAL:
		r += 4
	case elf.STB_WEAK:
		r += 2
	}
	if reserved(s.Name) {
		r++
	}
	return r
}

func (t symtab) ordered() symtab {
	sort.Slice(t, func(i, j int) bool {
		a, b := t[i], t[j]
		if a.addr != b.addr {
			return a.addr < b.addr
		}
		if a.rank != b.rank {
			return a.rank < b.rank
		}
		return a.name < b.name
	})
	out := t[:0]
	for _, s := range t {
		if n := len(out); n == 0 || out[n-1].addr != s.addr {
			out = append(out, s)
		}
	}
	return out
}

// find is the symbol that addr lies in. A symbol without a size reaches to the next one.
func (t symtab) find(addr uint64) (elfSymbol, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].addr > addr }) - 1
	if i < 0 {
		return elfSymbol{}, false
	}
	s := t[i]
	if s.size > 0 && addr >= s.addr+s.size {
		return elfSymbol{}, false
	}
	return s, true
}
