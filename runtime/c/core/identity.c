// identity.c: see identity.h. A child has the number that fork returned in its parent. A process that the child forks
// has the kernel's identifier, because nothing that it does is repeated.
#include "core/identity.h"
#include "core/registration.h"

enum { NOBODY = 0 /* the kernel has no process of this number */, MOST_CHILDREN = 1024 };

static struct { long kernels; int seen; } self, parent, program;
static long group, session; // the program's
static bool known;

static long call(long n, long id) { return hd_sys(n, id, 0, 0); }

void hd_identity_child(int number, long of_program) {
  long me = call(SYS_getpid, 0);
  if (!known) {
    program.kernels = of_program;
    program.seen = hd_pid();
    parent = program;
    group = call(SYS_getpgid, of_program);
    session = call(SYS_getsid, of_program);
  }
  if (known) parent = self;
  known = true;
  self.kernels = me;
  self.seen = number ? number : (int)me;
}

// Reports whether the kernel's process id is a child of this one.
static bool own_child(long id) {
  enum { P_PID = 1, WNOHANG = 1, WEXITED = 4, WNOWAIT = 0x1000000 };
  char info[128];
  return hd_sys6(SYS_waitid, P_PID, id, (long)info, WEXITED | WNOHANG | WNOWAIT, 0, 0) == 0;
}

long hd_identity_kernels(int id) {
  if (!known || id <= 0) return id;
  if (id == self.seen) return self.kernels;
  if (id == parent.seen) return parent.kernels;
  if (id == program.seen) return program.kernels;
  bool thread = id > hd_pid() && (uint32_t)(id - hd_pid()) < hd.nborn, sibling = id >= HD_CHILD_BASE && id < HD_CHILD_BASE + MOST_CHILDREN;
  if ((!thread && !sibling && id != hd_pid() - 1) || own_child(id)) return id;
  long found = NOBODY;
  HD_EACH_MODULE(m) if (sibling && m->child && !found) found = m->child(id);
  return found ? found : INT32_MAX;
}

long hd_identity_kernels_group(int id) { return known && id == hd_pid() ? group : hd_identity_kernels(id); }

bool hd_identity_is_program(long id) { return known && id == program.kernels; }
bool hd_identity_with_program(void) { return known && call(SYS_getpgid, 0) == group; }

int hd_identity_seen(long id) {
  if (!known) return (int)id;
  if (id == self.kernels) return self.seen;
  if (id == parent.kernels) return parent.seen;
  if (id == program.kernels) return program.seen;
  return id == group ? hd_pid() : id == session ? hd_pid() - 1 : (int)id;
}
