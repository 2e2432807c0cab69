// context.c: access to the registers that the kernel saved for a signal handler, and the control
// words and frame of a new fiber.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include "arch/context.h"

uint64_t hd_context_pc(const ucontext_t *c) { return (uint64_t)c->uc_mcontext.gregs[REG_RIP]; }
uint64_t hd_context_sp(const ucontext_t *c) { return (uint64_t)c->uc_mcontext.gregs[REG_RSP]; }

void hd_context_set(ucontext_t *c, uint64_t pc, uint64_t sp) {
  c->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
  c->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}

void hd_context_call(ucontext_t *c, void *f, void *arg, uintptr_t top) {
  greg_t *reg = c->uc_mcontext.gregs;
  reg[REG_RIP] = (greg_t)(uintptr_t)f;
  reg[REG_RDI] = (greg_t)(uintptr_t)arg;
  reg[REG_RSP] = (greg_t)(top - 8); // as after a call
  reg[REG_EFL] &= ~0x400ll;         // direction flag
}

bool hd_context_fix_up(ucontext_t *c) {
  struct fixup { int32_t at, to; };
  extern const struct fixup __start_hd_fixups[] __attribute__((visibility("hidden")));
  extern const struct fixup __stop_hd_fixups[] __attribute__((visibility("hidden")));
  greg_t *ip = &c->uc_mcontext.gregs[REG_RIP];
  for (const struct fixup *f = __start_hd_fixups; f < __stop_hd_fixups; f++)
    if ((greg_t)&f->at + f->at == *ip) {
      *ip = (greg_t)&f->to + f->to;
      return true;
    }
  return false;
}

// ---- rdtsc (0f 31) and rdtscp (0f 01 f9)
uint64_t hd_timestamp_now(void) { return __builtin_ia32_rdtsc(); }

uint64_t hd_timestamp_size(const uint8_t code[3]) {
  if (code[0] != 0x0f) return 0;
  return code[1] == 0x31 ? 2 : code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

void hd_context_timestamp(ucontext_t *c, uint64_t size, uint64_t value) {
  greg_t *reg = c->uc_mcontext.gregs;
  reg[REG_RAX] = (greg_t)(uint32_t)value;
  reg[REG_RDX] = (greg_t)(value >> 32);
  if (size == 3) reg[REG_RCX] = 0; // the processor's number
  reg[REG_RIP] += (greg_t)size;
}

// ---- single steps
enum { TRAP_FLAG = 0x100 };

void hd_context_step(ucontext_t *c, bool on) {
  greg_t *flags = &c->uc_mcontext.gregs[REG_EFL];
  *flags = on ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

static bool is_prefix(uint8_t byte) {
  static const uint8_t legacy[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3 };
  for (uint32_t i = 0; i < sizeof legacy; i++)
    if (byte == legacy[i]) return true;
  return byte >> 4 == 4; // REX
}

enum hd_flow hd_context_flow(uint64_t pc) {
  const volatile uint8_t *code = (const volatile uint8_t *)pc;
  bool repeats = false;
  while (is_prefix(*code)) repeats |= *code++ == 0xf3;
  uint8_t next;
  switch (*code) {
  case 0xe8: return HD_FLOW_CALL;
  case 0x68: case 0x6a: return HD_FLOW_LINK; // the number of a function that has not been looked up yet
  case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcc: case 0xcd: case 0xce: case 0xcf: case 0xf4: return HD_FLOW_LEAVES;
  case 0x0f:
    next = code[1];
    if (next == 0x1e && repeats) return HD_FLOW_LINK; // endbr64
    return next == 0x05 || next == 0x34 || next == 0x0b ? HD_FLOW_LEAVES : HD_FLOW_ON; // syscall, sysenter, ud2
  case 0xff:
    next = code[1];
    switch (next >> 3 & 7) {
    case 2: case 3: return HD_FLOW_CALL;
    case 4: return (next & 0xc7) == 5 ? HD_FLOW_LINK : HD_FLOW_ON; // through a word at a fixed address; others are switches
    }
  }
  return HD_FLOW_ON;
}

enum { FX_SIZE = 512, XSTATE_MAGIC = 0x46505853, XSTATE_MAGIC_AT = 464, XSTATE_SIZE_AT = 468 };

uint64_t hd_context_extra(const ucontext_t *c) {
  const char *fp = (const char *)c->uc_mcontext.fpregs;
  if (!fp) return 0;
  return *(const uint32_t *)(fp + XSTATE_MAGIC_AT) == XSTATE_MAGIC ? *(const uint32_t *)(fp + XSTATE_SIZE_AT) : FX_SIZE;
}

void hd_context_copy(ucontext_t *to, const ucontext_t *from, uintptr_t extra) {
  hd_copy(to, from, offsetof(ucontext_t, uc_sigmask) + 8);
  if (!from->uc_mcontext.fpregs) return;
  hd_copy((void *)extra, from->uc_mcontext.fpregs, hd_context_extra(from));
  to->uc_mcontext.fpregs = (void *)extra;
}

// ---- system calls
//
// If a module makes system calls with its own instructions, the kernel also intercepts the
// runtime's. These two then point to code in libc's text.
void (*hd_syscall_at)(void);
void *hd_sigreturn_at = (void *)hd_sigreturn;

long hd_context_syscall(const ucontext_t *c, long arguments[6]) {
  const greg_t *reg = c->uc_mcontext.gregs;
  static const int in[6] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };
  for (int i = 0; i < 6; i++) arguments[i] = (long)reg[in[i]];
  return (long)reg[REG_RAX];
}

void hd_context_result(ucontext_t *c, long result) { c->uc_mcontext.gregs[REG_RAX] = (greg_t)result; }

// Unwinders and debuggers recognise a signal frame by exactly these bytes. They look up the byte
// before, which must not belong to a function.
__asm__(".text\n nop\n.hidden hd_sigreturn\n.globl hd_sigreturn\nhd_sigreturn:\n movq $15, %rax\n syscall\n");

// ---- fibers
int hd_fsgsbase = -1;

void hd_set_fs_slowly(uintptr_t fs) {
  if (hd_fsgsbase < 0) {
    hd_fsgsbase = getauxval(AT_HWCAP2) >> 1 & 1; // HWCAP2_FSGSBASE
    if (hd_fsgsbase) {
      hd_set_fs(fs);
      return;
    }
  }
  hd_sys(SYS_arch_prctl, ARCH_SET_FS, fs, 0);
}

extern char hd_fiber_entry[] __attribute__((visibility("hidden")));

void *hd_fiber_frame(uintptr_t sp, void (*entry)(void), bool inherit) {
  uint64_t *s = (uint64_t *)(sp & ~15ull);
  *--s = 0; *--s = 0;
  *--s = (uint64_t)hd_fiber_entry; // return address; leaves the stack 16-aligned at its call
  *--s = 0;                        // rbp
  *--s = (uint64_t)entry;          // rbx
  *--s = 0; *--s = 0; *--s = 0; *--s = 0; // r12 r13 r14 r15
  uint32_t mxcsr = 0x1f80; uint16_t cw = 0x37f;
  if (inherit) __asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(cw));
  *--s = mxcsr | (uint64_t)cw << 32;
  return s;
}
