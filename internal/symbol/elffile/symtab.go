package elffile

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
)

// Symtab is an address-ordered symbol table, one symbol per address.
type Symtab []Symbol

// Symbol is a function or variable. A size of 0 means unknown.
type Symbol struct {
	Addr, Size uint64
	Name       string
	rank       int // preference among several names for an address; smaller is better
}

// NewSymtabs splits symbols into code and data and orders them.
func NewSymtabs(symbols []elf.Symbol) (code, data Symtab) {
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || s.Section == elf.SHN_ABS || s.Name == "" || s.Value == 0 {
			continue
		}
		name, _, _ := strings.Cut(s.Name, "@")
		e := Symbol{Addr: s.Value, Size: s.Size, Name: name, rank: symbolRank(s)}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FUNC, elf.STT_LOOS: // STT_LOOS is STT_GNU_IFUNC
			code = append(code, e)
		case elf.STT_OBJECT:
			data = append(data, e)
		case elf.STT_NOTYPE:
			// Labels of hand-written assembly are untyped.
			code = append(code, e)
			if s.Size > 0 {
				data = append(data, e)
			}
		}
	}
	return code.ordered(), data.ordered().withoutMarks()
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
	if cxxname.Reserved(s.Name) {
		r++
	}
	return r
}

func (t Symtab) ordered() Symtab {
	slices.SortFunc(t, func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.rank, b.rank), cmp.Compare(a.Name, b.Name))
	})
	out := t[:0]
	for _, s := range t {
		if n := len(out); n == 0 || out[n-1].Addr != s.Addr {
			out = append(out, s)
		}
	}
	return out
}

// withoutMarks removes names without a size that lie in an object: the linker marks the end of a section, as by __TMC_END__, and
// an object of the next section may begin in the bytes before.
func (t Symtab) withoutMarks() Symtab {
	end := uint64(0)
	return slices.DeleteFunc(t, func(s Symbol) bool {
		if s.Size == 0 && s.Addr < end {
			return true
		}
		end = max(end, s.Addr+s.Size)
		return false
	})
}

// Gap returns the distance from addr to the next symbol, at most limit.
func (t Symtab) Gap(addr, limit uint64) uint64 {
	i := sort.Search(len(t), func(i int) bool { return t[i].Addr > addr })
	if i < len(t) {
		return min(limit, t[i].Addr-addr)
	}
	return limit
}

// With returns the table with further symbols.
func (t Symtab) With(more ...Symbol) Symtab { return append(slices.Clone(t), more...).ordered() }

// Find returns the symbol that contains addr. A symbol without a size extends to the next one.
func (t Symtab) Find(addr uint64) (Symbol, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].Addr > addr }) - 1
	if i < 0 {
		return Symbol{}, false
	}
	s := t[i]
	if s.Size > 0 && addr >= s.Addr+s.Size {
		return Symbol{}, false
	}
	return s, true
}
