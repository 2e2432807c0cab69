// unsupported.c: the C side of unsupported.S.
#include "core/libc.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "core/run.h"

struct record { const char *name; void *real; uint64_t isolation; };

// Returns the address at which the call continues: libc's function.
__attribute__((visibility("hidden"))) void *hd_unsupported_call(struct record *r, uint64_t pc) {
  if (hd_active()) {
    hd.cur->pend.pc = pc;
    if (!r->isolation) hd_unsupported(r->name);
    hd_require_isolation((uint32_t)r->isolation, r->name);
  }
  if (!r->real) r->real = hd_real_find(r->name);
  if (!r->real) hd_fatal("libc has no function %s", r->name);
  return r->real;
}
