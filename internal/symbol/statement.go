package symbol

import (
	"debug/elf"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/trace"
)

// Line returns a site, in the form of a return address, on a line of the program's files whose paths match accepts, in the function that
// has most of the line's code: a lambda on the line has less than what calls it. It returns 0 if no code belongs to the line.
func (t *Table) Line(match func(path string) bool, line int) trace.Site {
	t.mu.Lock()
	defer t.mu.Unlock()
	type code struct {
		site trace.Site
		size uint64
	}
	var best code
	for i := range t.mods {
		m := t.module(i)
		if m.debug == nil || !m.Program {
			continue
		}
		functions := map[uint64]*code{}
		for from, to := range m.debug.Line(match, line) {
			entry, name := m.functionAt(from)
			if strings.HasPrefix(name, "__static_init") || strings.HasPrefix(name, "_GLOBAL__sub_I") || strings.HasPrefix(name, "__cxx_global_var_init") || strings.HasPrefix(name, "_Z41__static_init") {
				continue // a test registers itself before main
			}
			f := functions[entry]
			if f == nil {
				f = &code{site: trace.MakeSite(i, from+1)}
				functions[entry] = f
			}
			if f.size += to - from; f.size > best.size || f.size == best.size && f.site < best.site {
				best = *f
			}
		}
	}
	return best.site
}

// A literal that is part of a line of output must have this many bytes to tell where the line comes from.
const leastLiteral = 8

// Writes returns the site, in the form of a return address, at which the program's code takes the address of the string literal of which
// a line of its output was made: a format whose text the line has, or else the longest part of the line that is a literal. It returns
// 0 if no literal is part of it, or if it is used on several lines of the source.
func (t *Table) Writes(line string) trace.Site {
	t.mu.Lock()
	var found []trace.Site
	longest := 0
	for i := range t.mods {
		if m := t.module(i); m.Program && m.err == nil {
			for _, l := range m.literals() {
				size := l.in(line)
				if size > longest {
					longest, found = size, nil
				}
				if size > 0 && size == longest {
					found = append(found, trace.MakeSite(i, l.user+1))
				}
			}
		}
	}
	t.mu.Unlock()
	var at Frame
	for n, s := range found {
		f := t.Call(s)[0]
		if f.File == "" || n > 0 && (f.File != at.File || f.Line != at.Line) {
			return 0
		}
		at = f
	}
	if len(found) == 0 {
		return 0
	}
	return found[0]
}

// literal is a string literal and an instruction with its address.
type literal struct {
	text string
	user uint64
}

// in returns how many bytes a line has of the literal, 0 if it was not made of it.
func (l *literal) in(line string) (most int) {
	for part := range strings.SplitSeq(l.text, "\n") {
		part = strings.TrimSpace(part)
		if len(part) < leastLiteral {
			continue
		}
		switch {
		case !strings.Contains(part, "%"):
			if strings.Contains(line, part) {
				most = max(most, len(part))
			}
		case formatOf(part).MatchString(line):
			most = max(most, len(verb.ReplaceAllString(part, "")))
		}
	}
	return most
}

// verb is a conversion of printf.
var verb = regexp.MustCompile(`%[-+ #0']*(\*|\d+)?(\.(\*|\d+)?)?(hh|h|ll|l|j|z|t|L|q)?[a-zA-Z]|%%`)

// formatOf matches what printf makes of a format.
func formatOf(format string) *regexp.Regexp {
	var b strings.Builder
	at, text := 0, 0
	for _, m := range verb.FindAllStringIndex(format, -1) {
		b.WriteString(regexp.QuoteMeta(format[at:m[0]]) + ".*?")
		text += m[0] - at
		at = m[1]
	}
	text += len(format) - at
	if text < leastLiteral {
		return never
	}
	return regexp.MustCompile(b.String() + regexp.QuoteMeta(format[at:]))
}

var never = regexp.MustCompile(`$.`)

// literals returns the string literals that the module's code uses: its instructions have an address relative to the next instruction, or in a program
// that is not relocated the address itself. It reads every offset as if it were such an operand; few that are none lead to the beginning of text.
func (m *module) literals() []literal {
	if m.literalsRead {
		return m.used
	}
	m.literalsRead = true
	f, err := regular.OpenELF(m.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 || len(m.constants) == 0 {
		return nil
	}
	texts := map[uint64]string{}
	text := func(addr uint64) string {
		for i := range m.constants {
			c := &m.constants[i]
			if addr-c.Addr >= uint64(len(c.Data)) {
				continue
			}
			s, known := texts[addr]
			if !known {
				if l, off, ok := c.Literal(addr); ok {
					s = l[off:] // the linker puts a literal that another one ends with into that
				}
				texts[addr] = s
			}
			return s
		}
		return ""
	}
	for s, b := range elffile.Code(f.File) {
		for i := 0; i+4 <= len(b); i++ {
			n := binary.LittleEndian.Uint32(b[i:])
			next := s.Addr + uint64(i) + 4
			l := text(next + uint64(int64(int32(n))))
			if l == "" && f.Type == elf.ET_EXEC {
				l = text(uint64(n))
			}
			if len(l) >= leastLiteral {
				m.used = append(m.used, literal{l, next - 1})
			}
		}
	}
	m.used = slices.Clip(m.used)
	return m.used
}
