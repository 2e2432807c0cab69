package valueflow

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// TestEnds: in each loop, rbx and the word at 8(%rsp) are private, and the loop goes from the access at h1 to itself, or to that at h2 and back.
// It starts after h1. READ is the access to what rdi has.
func TestEnds(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x86-64")
	}
	need.Tool(t, "gcc")
	const walk = "mov (%rbp), %rbp; test %rbp, %rbp; je out; mov %rbp, %rdi; READ; h1: jmp 1b; "
	for code, want := range map[string]string{
		"1: inc %rbx; " + walk:                                   "",
		"1: addl $1, 8(%rsp); " + walk:                           "",
		"1: addq $1, 16(%rsp); " + walk:                          "", // computed from nothing private, but it is private from now on or recurs
		"1: add (%rbp), %rbx; lea 1(%rbx,%rbx,2), %r12; " + walk: "",
		"1: mov %rbx, %rax; imul $3, %rax, %rax; shl %cl, %rbx; mov %rax, 24(%rsp); " + walk: "",
		"1: inc %rbx; cmp $9, %rbx; je out; " + walk:                                         "a jump",
		"1: inc %rbx; je out; " + walk:                                                       "a jump",
		"1: inc %rbx; mov %rbx, %rax; shr $8, %al; sete %cl; movzx %cl, %ecx; mov %ecx, 24(%rsp); cmpl $1, 24(%rsp); je out; " + walk: "a jump",
		"1: inc %rbx; xor %ebx, %ebx; je out; " + walk:                                                                                            "",
		"1: mov $1, %eax; add %rax, %rbx; inc %rax; jc out; " + walk:                                                                              "a jump",
		"1: mov $1, %eax; add %rax, %rax; inc %rbx; jc out; " + walk:                                                                              "",
		"1: lea 0x200(%rsp), %r12; inc %rbx; cmp $9, %rbx; sete %cl; movzx %cl, %ecx; mov %ecx, -0x1e0(%r12); cmpl $1, 32(%rsp); je out; " + walk: "a jump",
		"1: inc %rbx; cmovs %rax, %rbp; " + walk:                                                                                                  "an address",
		"1: mov table(%rbx), %r12; " + walk:                                                                                                       "an address",
		"1: mov %rbx, (%rbp); " + walk:                                                                                                            "a write that is not seen",
		"1: movq $1, (%rbp); " + walk:                                                                                                             "a write that is not seen",
		"1: mov $7, %ecx; mov %rcx, 8(%rsp,%rcx,8); " + walk:                                                                                      "",
		"1: mov %rcx, %r12; mov %rbp, %rcx; mov %rsp, %rax; add %rcx, %rax; mov %rbp, (%rax); " + walk:                                            "a place in the stack that is not known",
		"1: mov $6, %eax; cqo; idiv %rbx; " + walk:                                                                                                "a division",
		"1: mov $6, %eax; cqo; idiv %rbp; inc %rbx; " + walk:                                                                                      "",
		"1: inc %rbx; lock incq (%rbp); " + walk:                                                                                                  "an instruction is not known",
		"1: inc %rbx; cpuid; " + walk:                                                                                                             "an instruction is not known",
		"1: inc %rbx; vaddps %ymm1, %ymm2, %ymm3; " + walk:                                                                                        "an instruction",
		"1: inc %rbx; jmp *%rbp; " + walk:                                                                                                         "a jump is not known",
		"1: inc %rbx; call *8(%rbp); " + walk:                                                                                                     "a call",
		"1: inc %rbx; mov %rbx, %rdi; call printf@PLT; " + walk:                                                                                   "a call of printf",
		"1: inc %rbx; mov %rbx, %rdi; call sum; " + walk:                                                                                          "",
		"1: inc %rbx; mov %rbx, %rdi; call give; " + walk:                                                                                         "a jump",
		"1: push %rbx; incq (%rsp); pop %rbx; " + walk:                                                                                            "",
		"1: mov %rbx, %rbp; " + walk:                                                                                                              "an address",
		"1: inc %rbx; mov %rbp, %rdi; READ; h2: mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2":                                                       "",
		"1: inc %rbx; mov %rbx, %rdi; READ; h2: mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2":                                                       "an argument of __tsan_read8",
		"1: inc %rbx; mov %rbp, %rdi; WRITE; h2: movq $1, (%rbp); mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2":                                     "",
		"1: inc %rbx; mov %rbp, %rdi; WRITE; h2: mov %rbx, (%rbp); mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2":                                    "memory",
		"1: inc %rbx; mov %rbp, %rdi; WRITE; h2: movq $1, 8(%rbp); mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2":                                    "a write that is not seen",
		"1: inc %rbx; 2: mov (%rbp), %rax; dec %rax; jne 2b; " + walk:                                                                             "",
		"1: mov %rbx, %rax; 2: dec %rax; jne 2b; " + walk:                                                                                         "a jump",
		"1: inc %rbx; test %rbp, %rbp; jne 3f; mov %rbx, %rdi; call exit@PLT; 3: " + walk:                                                         "",
		"1: inc %rbx; cmp $5, %rbp; jne 3f; cmp $5, %rbx; mov %rbx, count(%rip); mov %rbx, %rdi; call printf@PLT; jmp out; 3: " + walk:            "",
		"1: inc %rbx; mov (%rbp), %rbp; mov %rbp, %rdi; READ; jmp 1b; h1: nop; out: ud2":                                                          "a path is not known",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			l, c := assembled(t, code)
			if got := c.Ends(l); want == "" && got != "" || !strings.HasPrefix(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// assembled is the loop of a library with the instructions.
func assembled(t *testing.T, code string) (*Loop, *Code) {
	t.Helper()
	dir := t.TempDir()
	text := "	.text\nf: jmp h1\n" + strings.NewReplacer("READ", "call __tsan_read8@PLT", "WRITE", "call __tsan_write8@PLT", "; ", "\n").Replace(code) + `
	.ifndef out
out: ud2
	.endif
sum: lea (%rdi,%rdi), %rax
	mov %rax, -16(%rsp)
	ret
hidden: incq count(%rip)
	ret
give: cmp $4, %rdi
	je sum
	ret
	.bss
count: .skip 8
	.section .note.GNU-stack,"",@progbits
`
	text = strings.ReplaceAll(text, "table(", "0x1000(")
	source, lib := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.so")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("gcc", "-shared", "-nostdlib", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]trace.Site{}
	for _, s := range symbols {
		at[s.Name] = trace.MakeSite(0, s.Value)
	}
	sp := trace.MakeObject(trace.RegionStack, 1, 1024)
	l := &Loop{
		Frames:    []Frame{{Site: at["h1"], SP: sp}},
		Registers: map[int]Word{rbx: {Value: 5, Changes: 1}, rbp: {Value: uint64(trace.MakeObject(trace.RegionHeap, 0, 64)), Pointer: true}, 12: {}, 13: {}, 14: {}, 15: {}},
		Stack:     make([]Word, 32),
		Next:      map[Step][]Step{},
	}
	l.Stack[1].Changes = 1
	first := Step{trace.OpRead, at["h1"]}
	second := first
	if h2, ok := at["h2"]; ok {
		second = Step{trace.OpRead, h2}
		if strings.Contains(code, "WRITE") {
			second.Op = trace.OpWrite
		}
		l.Next[second] = []Step{first}
	}
	l.Next[first] = []Step{second}
	return l, NewCode([]trace.Module{{Path: lib}})
}
