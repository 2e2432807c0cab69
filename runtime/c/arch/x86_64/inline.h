// inline.h: the inline part of arch/arch.h for x86-64.
#ifndef HD_ARCH_X86_64_INLINE_H
#define HD_ARCH_X86_64_INLINE_H

// NULL: the instruction may stand anywhere. Otherwise it is called; the call skips the red zone,
// which the compiler may use in a function without calls.
extern void (*hd_syscall_at)(void);
static inline long hd_sys6(long n, long a, long b, long c, long d, long e, long f) {
  long r;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  if (__builtin_expect(!hd_syscall_at, 1)) {
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
  }
  __asm__ volatile("addq $-128, %%rsp\n\tcall *%[at]\n\tsubq $-128, %%rsp"
                   : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9), [at] "r"(hd_syscall_at)
                   : "rcx", "r11", "memory", "cc");
  return r;
}
#define hd_sys(n, a, b, c) hd_sys6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define hd_sys4(n, a, b, c, d) hd_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

// Compilers generate calls to memcpy and memset for copies and initialisations of structs. These
// calls must not reach the interposed functions (memory/memcpy.c), which count as accesses of the
// program.
#ifndef HD_INTERPOSES_MEMCPY
__asm__(".set memcpy, hd_memcpy\n\t.set memmove, hd_memmove\n\t.set memset, hd_memset");
#endif

static inline void hd_copy(void *dst, const void *src, uint64_t n) {
  __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}
// From the end down, for a destination that overlaps the end of the source.
static inline void hd_copy_down(void *dst, const void *src, uint64_t n) {
  char *to = (char *)dst + n - 1;
  const char *from = (const char *)src + n - 1;
  __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static inline void hd_fill(void *dst, int byte, uint64_t n) {
  __asm__ volatile("rep stosb" : "+D"(dst), "+c"(n) : "a"(byte) : "memory");
}

// Returns the word at an address in the program's memory, or the value of gone if it cannot be read. For reading
// an object on behalf of a thread that does not run. After a fault, execution continues behind the
// load (hd_context_fix_up), which has not changed the register.
static inline uint32_t hd_word_or(uint64_t address, uint32_t gone) {
  __asm__ volatile("1: movl (%1), %0\n2:\n"
                   ".pushsection hd_fixups, \"a\"\n.balign 4\n.long 1b - ., 2b - .\n.popsection"
                   : "+r"(gone) : "r"(address) : "memory");
  return gone;
}

static inline bool hd_writable(uint64_t address) {
  bool can = false;
  __asm__ volatile("1: lock; orb $0, (%1)\n\tmovb $1, %0\n2:\n"
                   ".pushsection hd_fixups, \"a\"\n.balign 4\n.long 1b - ., 2b - .\n.popsection"
                   : "+q"(can) : "r"(address) : "memory", "cc");
  return can;
}

extern int hd_fsgsbase; // 1: wrfsbase is available, 0: not; -1: not known yet
void hd_set_fs_slowly(uintptr_t fs);
static inline void hd_set_fs(uintptr_t fs) {
  if (__builtin_expect(hd_fsgsbase > 0, 1)) __asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
  else hd_set_fs_slowly(fs);
}
static inline uintptr_t hd_fs(void) {
  uintptr_t fs;
  __asm__ volatile("movq %%fs:0, %0" : "=r"(fs)); // the thread control block starts with its own address
  return fs;
}

// The value that functions built with a stack protector put on their stack. It lies in the thread control block, and is random.
static inline void hd_set_guard(uintptr_t fs, uint64_t value) { *(volatile uint64_t *)(fs + 0x28) = value; }

// The kernel traps (SIGTRAP) before each instruction but the first one behind this.
static inline void hd_step_begin(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" : : : "memory", "cc");
}

// A function that either ends with the call of a function on the side stack or returns on its own leaves the same in the
// registers for arguments: the arguments of that call, a, b, c and d, and the program's values in the last two.
// HD_REGISTERS_KEPT comes first, HD_LEAVE_REGISTERS last.
#define HD_REGISTERS_KEPT() \
  register uint64_t kept_8 __asm__("r8"), kept_9 __asm__("r9"); \
  __asm__ volatile("" : "=r"(kept_8), "=r"(kept_9))
#define HD_LEAVE_REGISTERS(a, b, c, d) \
  __asm__ volatile("" : : "D"((uint64_t)(a)), "S"((uint64_t)(b)), "d"((uint64_t)(c)), "c"((uint64_t)(d)), "r"(kept_8), "r"(kept_9))

#define HD_SIDE_ENTRY(name) \
  __asm__(".pushsection .text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n" \
          ".cfi_startproc\n\tleaq " #name "_side(%rip), %rax\n\tjmp hd_side_call\n.cfi_endproc\n" \
          ".size " #name ", . - " #name "\n.popsection")

static inline void hd_pause(void) { __builtin_ia32_pause(); }

// Returns the old value. Does not call libatomic.
static inline unsigned __int128 hd_wide_cas(volatile unsigned __int128 *p, unsigned __int128 expected, unsigned __int128 v) {
  uint64_t lo = (uint64_t)expected, hi = (uint64_t)(expected >> 64);
  __asm__ volatile("lock cmpxchg16b %0" : "+m"(*p), "+a"(lo), "+d"(hi) : "b"((uint64_t)v), "c"((uint64_t)(v >> 64)) : "memory", "cc");
  return (unsigned __int128)hi << 64 | lo;
}

enum { HD_JUMP_WORDS = 8 }; // registers in a jmp_buf, before the field for the mask
static inline uintptr_t hd_jump_sp(const uint64_t regs[HD_JUMP_WORDS]) {
  uintptr_t sp = regs[6]; // mangled with the thread's pointer guard
  __asm__("rorq $17, %0; xorq %%fs:0x30, %0" : "+r"(sp));
  return sp;
}

// DWARF's numbers of registers. HD_DWARF_PROGRAM are those of hd_side_register (core/side_stack.h), in its order.
enum { HD_DWARF_STACK = 7, HD_DWARF_RETURN = 16, HD_DWARF_REGISTERS };
#define HD_DWARF_PROGRAM { 6, 3, 12, 13, 14, 15 }

// The bytes of "syscall; ret".
enum { HD_SYSCALL_RET = 0xc3050f };
enum { HD_RETURN_BYTE = 0xc3, HD_CALL_SIZE = 2, HD_SYSCALL_SIZE = 2 };
static inline bool hd_is_syscall(uint64_t bytes) { return (uint16_t)bytes == 0x050f; }
#endif
