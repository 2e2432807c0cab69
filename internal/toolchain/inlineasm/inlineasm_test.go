package inlineasm

import (
	"strings"
	"testing"
)

// app is what gcc writes for a statement of inline assembly in a function whose frame the stack pointer gives.
func app(code string) string {
	return "f:\n\t.cfi_startproc\n#APP\n# 1 \"x.c\" 1\n\t" + code + "\n# 0 \"\" 2\n#NO_APP\n\tret\n\t.cfi_endproc\n"
}

func TestRewrite(t *testing.T) {
	const begin, end = "leaq -128(%rsp), %rsp; pushq %rdi; ", "popq %rdi; leaq 128(%rsp), %rsp"
	before := func(address, word string) string {
		return begin + address + "pushq $" + word + "; .cfi_adjust_cfa_offset 144; call *heddle_assembly_before@GOTPCREL(%rip); .cfi_adjust_cfa_offset -144; leaq 8(%rsp), %rsp; " + end
	}
	after := begin + ".cfi_adjust_cfa_offset 136; call *heddle_assembly_after@GOTPCREL(%rip); .cfi_adjust_cfa_offset -136; " + end
	for code, want := range map[string]string{
		"lock; incl 12(%rdi)":        before("leaq 12(%rdi), %rdi; ", "0x204") + "; lock incl 12(%rdi); " + after,
		"lock\n\tincl 12(%rdi)":      before("leaq 12(%rdi), %rdi; ", "0x204") + "; lock incl 12(%rdi); " + after,
		"xchgl %eax, 12(%rsp)":       before("leaq 136+(12)(%rsp), %rdi; ", "0x204") + "; xchgl %eax, 12(%rsp); " + after,
		"xchg (%rsp), %ax":           before("leaq 136(%rsp), %rdi; ", "0x202") + "; xchg (%rsp), %ax; " + after,
		"lock cmpxchgb %cl, x(%rip)": before("leaq x(%rip), %rdi; ", "0x301") + "; lock cmpxchgb %cl, x(%rip); " + after,
		"lock cmpxchg16b (%rsi)":     before("leaq (%rsi), %rdi; ", "0x8310") + "; lock cmpxchg16b (%rsi); " + after,
		"lock; addl $1, %fs:x@tpoff": before("leaq x@tpoff, %rdi; ", "0x1204") + "; lock addl $1, %fs:x@tpoff; " + after,
		"movl $0, x(%rip)":           before("leaq x(%rip), %rdi; ", "0x4104") + "; movl $0, x(%rip); " + after,
		"movzwl (%rax,%rbx,2), %eax": before("leaq (%rax,%rbx,2), %rdi; ", "0x4002") + "; movzwl (%rax,%rbx,2), %eax",
		"1: cmpb $0, (%rax); je 1b":  "1:; " + before("leaq (%rax), %rdi; ", "0x4001") + "; cmpb $0, (%rax); je 1b",
		"mfence":                     before("", "0x400") + "; mfence",
		"lock; orl $0, (%rsp)":       before("", "0x400") + "; lock orl $0, (%rsp)",
		// Code that is left alone.
		"pause":                             "-",
		"rep; nop":                          "-",
		"movl %eax, %ebx":                   "-",
		"movq %fs:40, %rax":                 "-",
		"leaq x(%rip), %rax":                "-",
		"lock; incl (%rax); loop 1b":        "-",
		"lock; incl (%rax); jmp .+4":        "-",
		"lock; incl (%rax); mov %rax, %rsp": "-",
		".pushsection .smp_locks,\"a\"\n.long 671f - .\n.popsection\n671:\n\tlock; incl (%rax)": "-",
		".rept 2\nlock; incl (%rax)\n.endr":                                                     "-",
		"lock":                                                                                  "-",
	} {
		got, n := Rewrite([]byte(app(code)))
		if want == "-" {
			if n != 0 || string(got) != app(code) {
				t.Errorf("%s: %d\n%s", code, n, got)
			}
			continue
		}
		var lines []string
		for line := range strings.Lines(string(got)) {
			lines = append(lines, strings.TrimSpace(line))
		}
		text := strings.Join(lines, "; ")
		_, text, _ = strings.Cut(text, `"x.c" 1; `)
		text, _, _ = strings.Cut(text, `; # 0 ""`)
		if text != want {
			t.Errorf("%s:\n%s\nwant\n%s", code, text, want)
		}
	}
}

// A register that selects a bit is pushed, too.
func TestRewriteBit(t *testing.T) {
	got, n := Rewrite([]byte(app("lock; btsl %esi, 4(%rsp)")))
	if n != 1 || !strings.Contains(string(got), "\tpushq %rdi\n\tpushq %rsi\n\tleaq 144+(4)(%rsp), %rdi\n\tpushq $0x2204\n") || !strings.Contains(string(got), "\tleaq 16(%rsp), %rsp\n") {
		t.Errorf("%d\n%s", n, got)
	}
}

func TestRewriteIntel(t *testing.T) {
	const head = "\t.intel_syntax noprefix\n"
	got, n := Rewrite([]byte(head + app("lock xadd DWORD PTR 4[rsp], eax")))
	if n != 1 || !strings.Contains(string(got), "\t.intel_syntax noprefix\n\tlea rdi, 4[rsp+136]\n\t.att_syntax prefix\n\tpushq $0x204\n") {
		t.Errorf("%d\n%s", n, got)
	}
	for _, code := range []string{"mov eax, OFFSET FLAT:x", "xchg eax, ebx"} {
		if got, n := Rewrite([]byte(head + app(code))); n != 0 {
			t.Errorf("%s\n%s", code, got)
		}
	}
}

// With a frame pointer, the canonical frame address does not depend on the stack pointer.
func TestRewriteFramePointer(t *testing.T) {
	text := strings.Replace(app("mfence"), "#APP", "\t.cfi_def_cfa_register 6\n#APP", 1)
	if got, n := Rewrite([]byte(text)); n != 1 || strings.Contains(string(got), "adjust") {
		t.Errorf("%d\n%s", n, got)
	}
}

func TestRewriteOutside(t *testing.T) {
	const text = "f:\n\tlock; incl (%rax)\n"
	if got, n := Rewrite([]byte(text)); n != 0 || string(got) != text {
		t.Errorf("%d\n%s", n, got)
	}
}
