// program_memory.c: copies to and from the program's memory, except those that are operations.
#include "core/program_memory.h"
#include "core/run.h"

uintptr_t hd_heap_base;
uint64_t hd_heap_used;

static HD_PROGACCESS char touch(const volatile char *p) { return *p; }

HD_PROGACCESS void hd_from_program(void *to, const void *from, uint64_t n) { hd_copy(to, from, n); }
HD_PROGACCESS void hd_to_program(void *to, const void *from, uint64_t n) { hd_copy(to, from, n); }

HD_PROGACCESS bool hd_fetch_string(char *to, const char *from, uint64_t room) {
  for (uint64_t i = 0; i < room; i++)
    if (!(to[i] = *(const volatile char *)(from + i))) return true;
  return false;
}

bool hd_touch(const void *p, uint64_t size, uint64_t pc) {
  hd.cur->pend.pc = pc;
  const char *c = p;
  if (size) {
    touch(c);
    touch(c + size - 1);
  }
  return true;
}

HD_PROGACCESS void hd_fetch(void *to, const void *p, uint32_t size, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_copy(to, p, size);
}

HD_PROGACCESS void hd_refresh(void *p, uint32_t size, uint64_t pc) {
  if (hd_active()) hd.cur->pend.pc = pc; // before main, no thread is running
  volatile char *c = p;
  c[0] = c[0];
  c[size - 1] = c[size - 1];
}
