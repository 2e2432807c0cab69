package valueflow

import (
	"runtime"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// TestHides: loops as those of TestEnds.
func TestHides(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x86-64")
	}
	need.Tool(t, "gcc")
	const read = "mov %rbp, %rdi; READ; h1: jmp 1b; out: ud2"
	for code, want := range map[string]string{
		"1: inc %rbx; " + read:                                         "",
		"1: addl $1, 8(%rsp); pause; mfence; " + read:                  "",
		"1: lock incq (%rbp); " + read:                                 "has the instruction inc",
		"1: mov $1, %eax; lock xadd %eax, (%rbp); " + read:             "has the instruction xadd",
		"1: xchg %rax, (%rbp); " + read:                                "has the instruction xchg",
		"1: xchg %rax, %rcx; " + read:                                  "",
		"1: rdtsc; cmp $5, %eax; je out; " + read:                      "has the instruction rdtsc",
		"1: incq count(%rip); " + read:                                 "writes to memory without a hook",
		"1: incq (%rbp); " + read:                                      "writes to memory without a hook",
		"1: call hidden; " + read:                                      "writes to memory without a hook",
		"1: call sum; " + read:                                         "", // its own stack
		"1: call arc4random@PLT; cmp $7, %eax; je out; " + read:        "calls arc4random",
		"1: call rand@PLT; cmp $7, %eax; je out; " + read:              "", // heddle's runtime has it, or it is not known whose it is
		"1: call *8(%rbp); " + read:                                    "",
		"1: test %rbx, %rbx; je 2f; incq count(%rip); 2: " + read:      "writes to memory without a hook", // it may
		"1: test %rbx, %rbx; je 2f; incq count(%rip); ud2; 2: " + read: "",
		"1: mov %rbp, %rdi; WRITE; h2: movq $1, (%rbp); " + read:       "",
		"1: mov %rbp, %rdi; WRITE; h2: movq $1, 8(%rbp); " + read:      "writes to memory without a hook",
		"1: vaddps %ymm1, %ymm2, %ymm3; " + read:                       "",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			l, c := assembled(t, code)
			if got := c.Hides(l); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
