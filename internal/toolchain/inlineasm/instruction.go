package inlineasm

import (
	"regexp"
	"slices"
	"strings"
)

// instruction is what is to be known of one.
type instruction struct {
	word    int
	address string // its operand in memory, without the segment; "" for a fence
	bit     string // the 64-bit register that selects a bit
}

// access says which of an instruction's operands it reads and writes in memory.
type access uint8

const (
	reads    access = iota + 1 // any operand
	writes                     // the destination; it reads a source
	updates                    // the destination; it reads a source
	compares                   // the same, if the accumulator is equal
)

// instructions are those that are hooked, by their names without a suffix for the size.
var instructions = map[string]struct {
	access
	operands int
	alone    bool // without lock it is atomic, too
	bits     bool // the source may select a bit outside of the operand
}{
	"mov": {access: writes, operands: 2}, "cmp": {access: reads, operands: 2}, "test": {access: reads, operands: 2},
	"add": {access: updates, operands: 2}, "adc": {access: updates, operands: 2}, "sub": {access: updates, operands: 2},
	"sbb": {access: updates, operands: 2}, "and": {access: updates, operands: 2}, "or": {access: updates, operands: 2},
	"xor": {access: updates, operands: 2}, "inc": {access: updates, operands: 1}, "dec": {access: updates, operands: 1},
	"not": {access: updates, operands: 1}, "neg": {access: updates, operands: 1}, "xadd": {access: updates, operands: 2},
	"xchg": {access: updates, operands: 2, alone: true}, "cmpxchg": {access: compares, operands: 2},
	"cmpxchg8b": {access: compares, operands: 1}, "cmpxchg16b": {access: compares, operands: 1},
	"bt": {access: reads, operands: 2, bits: true}, "bts": {access: updates, operands: 2, bits: true},
	"btr": {access: updates, operands: 2, bits: true}, "btc": {access: updates, operands: 2, bits: true},
}

var sizes = map[byte]int{'b': 1, 'w': 2, 'l': 4, 'q': 8}

var extending = regexp.MustCompile(`^mov[sz]([bwl])[wlq]$`) // loads, in AT&T syntax

// parse returns what an instruction does, false if it is none of those that are hooked.
func (r *rewriter) parse(statement string) (i instruction, ok bool) {
	name, rest := cutWord(statement)
	locked := false
	for name == "lock" || name == "xacquire" || name == "xrelease" {
		locked = locked || name == "lock"
		name, rest = cutWord(rest)
	}
	if name == "mfence" && rest == "" {
		return instruction{word: fence}, true
	}
	operands := split(rest)
	if r.intel {
		slices.Reverse(operands)
	}
	size := 0
	does, known := instructions[name]
	if m := extending.FindStringSubmatch(name); m != nil && !r.intel {
		does, known, size = instructions["mov"], true, sizes[m[1][0]]
	} else if !known && !r.intel && len(name) > 1 && sizes[name[len(name)-1]] != 0 {
		size = sizes[name[len(name)-1]]
		does, known = instructions[name[:len(name)-1]]
	}
	if !known || len(operands) != does.operands || r.intel && r.prefixed {
		return i, false
	}
	at := -1
	for n, o := range operands {
		if r.memory(o) {
			at = n
		}
	}
	if at < 0 {
		return i, false
	}
	last := at == len(operands)-1
	switch {
	case does.access == writes && last:
		i.word = store
	case does.access == reads || does.access == writes, !last && name != "xchg" && !strings.HasPrefix(name, "xchg"):
		i.word = load
	case does.access == compares:
		i.word = cas
	default:
		i.word = rmw
	}
	if !locked && !does.alone {
		i.word |= plain
	}
	operand, said := r.strip(operands[at])
	switch name {
	case "cmpxchg8b":
		size, i.word = 8, i.word|wide
	case "cmpxchg16b":
		size, i.word = 16, i.word|wide
	}
	if size == 0 {
		size = said
	}
	for n, o := range operands {
		if size == 0 && n != at {
			size = registers[strings.TrimPrefix(o, "%")].size
		}
	}
	if segment, after, has := strings.Cut(operand, ":"); has {
		if strings.TrimPrefix(strings.TrimSpace(segment), "%") != "fs" || number.MatchString(strings.TrimSpace(after)) {
			return i, false // the thread's own words, as a stack protector's
		}
		operand = strings.TrimSpace(after)
		i.word |= threadLocal
	}
	if size == 0 || operand == "" {
		return i, false
	}
	if does.bits && len(operands) == 2 {
		if reg := registers[strings.TrimPrefix(operands[0], "%")]; reg.whole != "" {
			i.bit, i.word = reg.whole, i.word|bitNumber
			if reg.whole == "rsp" {
				return i, false
			}
		}
	}
	i.word |= size
	i.address = operand
	if locked && i.word&kinds == rmw && r.barrier(operands, operand) {
		return instruction{word: fence}, true
	}
	return i, true
}

// barrier reports whether an instruction changes nothing, at the top of the stack: it is a fence.
func (r *rewriter) barrier(operands []string, address string) bool {
	if len(operands) != 2 || operands[0] != "$0" && operands[0] != "0" && operands[0] != "$0x0" {
		return false
	}
	if r.intel {
		return intelStack.MatchString(address)
	}
	return attStack.MatchString(address)
}

var number = regexp.MustCompile(`^(0x)?[0-9a-fA-F]+$`)

// memory reports whether an operand is in memory.
func (r *rewriter) memory(operand string) bool {
	if operand == "" {
		return false
	}
	if r.intel {
		return strings.Contains(operand, "[") || pointer.MatchString(operand)
	}
	switch operand[0] {
	case '$', '*', '{':
		return false
	case '%':
		return strings.HasPrefix(operand, "%fs:") || strings.HasPrefix(operand, "%gs:")
	}
	return !strings.ContainsAny(operand, "{}")
}

var pointer = regexp.MustCompile(`(?i)^\s*(byte|word|dword|qword|xmmword|oword)\s+ptr\s+`)

// strip returns an operand without what says its size in Intel syntax, and the size.
func (r *rewriter) strip(operand string) (string, int) {
	if !r.intel {
		return operand, 0
	}
	m := pointer.FindStringSubmatch(operand)
	if m == nil {
		return operand, 0
	}
	return operand[len(m[0]):], map[string]int{"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16, "oword": 16}[strings.ToLower(m[1])]
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return strings.ToLower(s), ""
	}
	return strings.ToLower(s[:i]), strings.TrimSpace(s[i:])
}

// split cuts operands at the commas outside of parentheses.
func split(s string) (operands []string) {
	if s == "" {
		return nil
	}
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				operands = append(operands, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(operands, strings.TrimSpace(s[from:]))
}

type register struct {
	whole string
	size  int
}

// registers are the general-purpose registers by all their names, and the vector registers that mov loads 8 bytes of.
var registers = func() map[string]register {
	all := map[string]register{}
	for _, r := range []string{"a", "b", "c", "d"} {
		whole := "r" + r + "x"
		all[whole], all["e"+r+"x"], all[r+"x"] = register{whole, 8}, register{whole, 4}, register{whole, 2}
		all[r+"l"], all[r+"h"] = register{whole, 1}, register{"", 1}
	}
	for _, r := range []string{"si", "di", "bp", "sp"} {
		whole := "r" + r
		all[whole], all["e"+r], all[r], all[r+"l"] = register{whole, 8}, register{whole, 4}, register{whole, 2}, register{whole, 1}
	}
	for _, r := range []string{"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"} {
		all[r], all[r+"d"], all[r+"w"], all[r+"b"] = register{r, 8}, register{r, 4}, register{r, 2}, register{r, 1}
	}
	return all
}()
