// Package inlineasm finds the instructions of inline assembly in a compiler's output that access memory as atomic operations do, and
// adds calls of heddle's runtime before and after them. For code that the compiler generates, -fsanitize=thread adds such calls.
//
// A call keeps all registers, the flags and the red zone. The one before the instruction passes the address of its operand and a word
// that describes it (runtime/include/assembly_hooks.h); the one after it tells that the instruction has been executed.
package inlineasm

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// The word that describes an instruction, as in runtime/include/assembly_hooks.h. The lowest bits are the operand's size.
const (
	load  = 0x000
	store = 0x100
	rmw   = 0x200
	cas   = 0x300
	fence = 0x400
	kinds = 0x700

	threadLocal = 0x1000
	bitNumber   = 0x2000
	plain       = 0x4000
	wide        = 0x8000
)

// Before and After are the functions of the runtime that are called.
const (
	Before = "heddle_assembly_before"
	After  = "heddle_assembly_after"
)

// End is how the code of each call ends, by which a program's hooked instructions are known:
// popq %rdi; leaq 128(%rsp), %rsp.
const End = "\x5f\x48\x8d\xa4\x24\x80\x00\x00\x00"

// Rewrite returns a compiler's assembly with calls around the instructions of inline assembly, and the number of instructions.
// Code that it cannot rewrite is as before.
func Rewrite(assembly []byte) ([]byte, int) {
	if !bytes.Contains(assembly, []byte("#APP")) {
		return assembly, 0
	}
	r := rewriter{}
	r.out.Grow(len(assembly) + len(assembly)/8)
	var block []string
	inside := false
	for line := range strings.Lines(string(assembly)) {
		switch strings.TrimSpace(line) {
		case "#APP":
			inside = true
			r.out.WriteString(line)
			continue
		case "#NO_APP":
			r.block(block)
			block, inside = block[:0], false
			r.out.WriteString(line)
			continue
		}
		if !inside {
			r.note(line)
			r.out.WriteString(line)
			continue
		}
		block = append(block, line)
		if strings.HasPrefix(line, `# 0 "" 2`) { // gcc's mark for the end of a statement: another may follow
			r.block(block)
			block = block[:0]
		}
	}
	r.block(block)
	return r.out.Bytes(), r.count
}

type rewriter struct {
	out      bytes.Buffer
	intel    bool // syntax in force
	prefixed bool // in Intel syntax, registers have a %
	stackCFA bool // the canonical frame address is relative to the stack pointer
	saved    []bool
	locked   string // prefixes whose instruction is the next statement
	count    int
}

// note follows directives that decide how inserted code is written.
func (r *rewriter) note(line string) {
	word := strings.Fields(line)
	if len(word) == 0 || word[0][0] != '.' {
		return
	}
	rest := strings.Join(word[1:], "")
	switch word[0] {
	case ".intel_syntax":
		r.intel, r.prefixed = true, rest != "noprefix"
	case ".att_syntax":
		r.intel = false
	case ".cfi_startproc":
		r.stackCFA = true
	case ".cfi_endproc":
		r.stackCFA = false
	case ".cfi_def_cfa_register", ".cfi_def_cfa":
		register, _, _ := strings.Cut(rest, ",")
		register = strings.TrimPrefix(register, "%")
		r.stackCFA = register == "7" || register == "rsp"
	case ".cfi_escape":
		r.stackCFA = false
	case ".cfi_remember_state":
		r.saved = append(r.saved, r.stackCFA)
	case ".cfi_restore_state":
		if n := len(r.saved); n > 0 {
			r.stackCFA, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	}
}

// rigid finds what may not grow, lies in another section, or is not an instruction: code whose length is counted on, jumps that
// reach 127 bytes, macros, and the stack pointer used for something else.
var rigid = regexp.MustCompile(`(?i)\.(push|pop)?section\b|\.popsection|\.previous|\.subsection|\.org\b|\.re?pt\b|\.irpc?\b|\.macro\b|\.endm\b|\.endr\b|\.if|\.else|\.end|\.byte\b|\.long\b|\.quad\b|\.word\b|\.short\b|\.insn\b|\.code|\.include|\.inc|\.data\b|\.alt|\.set\b|\.skip|\.fill|\.space` +
	`|\bloop\w*\b|\bj[er]?cxz\b|[\s,($]\.\s*[-+]|[-+]\s*\.(\s|$|[),])|\bjmp\s+\*|\bsyscall\b|\biret|\b(mov|lea|and|xchg|or)[a-z]*\b[^;]*,\s*%[er]sp\b|\b(mov|lea|and|xchg|or)\s+[er]sp\b|\bpop[a-z]*\s+%[er]?sp\b|/\*|\\`)

// block rewrites what one or more statements of inline assembly have produced.
func (r *rewriter) block(lines []string) {
	if len(lines) == 0 {
		return
	}
	was := *r
	var out strings.Builder
	count, ok := 0, true
	for _, line := range lines {
		if strings.HasPrefix(line, "#") {
			out.WriteString(line)
			continue
		}
		r.note(line)
		code := line
		if i := strings.IndexByte(code, '#'); i >= 0 {
			code = code[:i]
		}
		if strings.Contains(code, `"`) || rigid.MatchString(code) && !strings.HasPrefix(strings.TrimSpace(code), ".size") {
			ok = false
			break
		}
		began := r.locked != ""
		text, n := r.line(code)
		if n == 0 && !began && r.locked == "" {
			text = line
		}
		count += n
		out.WriteString(text)
	}
	ok = ok && r.locked == ""
	r.locked = ""
	if ok && count > 0 {
		r.out.WriteString(out.String())
		r.count += count
		return
	}
	r.intel, r.prefixed, r.stackCFA, r.saved = was.intel, was.prefixed, was.stackCFA, was.saved
	for _, line := range lines {
		r.note(line)
		r.out.WriteString(line)
	}
}

var label = regexp.MustCompile(`^\s*[\w.$]+:`)

// line returns the line with calls around its instructions, and how many instructions these are.
func (r *rewriter) line(code string) (string, int) {
	var out strings.Builder
	count := 0
	for _, statement := range strings.Split(strings.TrimSuffix(code, "\n"), ";") {
		for at := label.FindString(statement); at != ""; at = label.FindString(statement) {
			fmt.Fprintf(&out, "%s\n", at)
			statement = statement[len(at):]
		}
		statement = strings.TrimSpace(statement)
		if p, ok := prefix(statement); ok {
			r.locked += p + " "
			continue
		}
		if statement == "" {
			continue
		}
		statement = r.locked + statement
		r.locked = ""
		i, ok := r.parse(statement)
		if !ok {
			fmt.Fprintf(&out, "\t%s\n", statement)
			continue
		}
		count++
		r.before(&out, i)
		fmt.Fprintf(&out, "\t%s\n", statement)
		if kind := i.word & kinds; kind != load && kind != fence {
			r.after(&out)
		}
	}
	return out.String(), count
}

func prefix(statement string) (string, bool) {
	switch p := strings.ToLower(statement); p {
	case "lock", "xacquire", "xrelease":
		return p, true
	}
	return "", false
}

// inserted code pushes what it needs below the red zone.
const redZone = 128

func (r *rewriter) before(out *strings.Builder, i instruction) {
	if r.intel {
		out.WriteString("\t.att_syntax prefix\n")
	}
	depth := redZone + 8
	fmt.Fprintf(out, "\tleaq -%d(%%rsp), %%rsp\n\tpushq %%rdi\n", redZone)
	if i.bit != "" {
		fmt.Fprintf(out, "\tpushq %%%s\n", i.bit)
		depth += 8
	}
	if i.address != "" {
		r.address(out, i.address, depth)
	}
	fmt.Fprintf(out, "\tpushq $%#x\n", i.word)
	depth += 8
	r.call(out, Before, depth)
	fmt.Fprintf(out, "\tleaq %d(%%rsp), %%rsp\n", depth-redZone-8)
	r.end(out)
}

func (r *rewriter) after(out *strings.Builder) {
	if r.intel {
		out.WriteString("\t.att_syntax prefix\n")
	}
	fmt.Fprintf(out, "\tleaq -%d(%%rsp), %%rsp\n\tpushq %%rdi\n", redZone)
	r.call(out, After, redZone+8)
	r.end(out)
}

func (r *rewriter) call(out *strings.Builder, function string, depth int) {
	if r.stackCFA {
		fmt.Fprintf(out, "\t.cfi_adjust_cfa_offset %d\n", depth)
	}
	fmt.Fprintf(out, "\tcall *%s@GOTPCREL(%%rip)\n", function)
	if r.stackCFA {
		fmt.Fprintf(out, "\t.cfi_adjust_cfa_offset -%d\n", depth)
	}
}

// end is End.
func (r *rewriter) end(out *strings.Builder) {
	fmt.Fprintf(out, "\tpopq %%rdi\n\tleaq %d(%%rsp), %%rsp\n", redZone)
	if r.intel {
		out.WriteString("\t.intel_syntax noprefix\n")
	}
}

var (
	attStack   = regexp.MustCompile(`\(\s*%[er]sp\b`)
	intelStack = regexp.MustCompile(`(?i)\b[er]sp\b`)
)

// address loads the operand's address to rdi, with the stack pointer depth bytes below where the operand takes it to be.
func (r *rewriter) address(out *strings.Builder, operand string, depth int) {
	if r.intel {
		fmt.Fprintf(out, "\t.intel_syntax noprefix\n\tlea rdi, %s\n\t.att_syntax prefix\n",
			intelStack.ReplaceAllStringFunc(operand, func(sp string) string { return fmt.Sprintf("%s+%d", sp, depth) }))
		return
	}
	if at := attStack.FindStringIndex(operand); at != nil {
		displacement := strings.TrimSpace(operand[:at[0]])
		if displacement != "" {
			displacement = "+(" + displacement + ")"
		}
		operand = fmt.Sprint(depth) + displacement + operand[at[0]:]
	}
	fmt.Fprintf(out, "\tleaq %s, %%rdi\n", operand)
}
