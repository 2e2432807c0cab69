// openmp.c: the ends of OpenMP's constructs. What a thread has written there may be overwritten by others as soon as it has
// left the construct, and libgomp and libomp synchronise by futexes, which the library does not see. So the last write is
// completed first. The functions have at most four arguments, all of them words.
#define _GNU_SOURCE
#include <dlfcn.h>
#include "live.h"

typedef uint64_t word;
#define END(name)                                                                   \
  HL_EXPORT word name(word a, word b, word c, word d) {                             \
    static word (*f)(word, word, word, word);                                       \
    if (HL_UNLIKELY(!f)) f = (__typeof__(f))dlsym(RTLD_NEXT, #name);                \
    hl_settle();                                                                    \
    return f(a, b, c, d);                                                           \
  }

// libgomp
END(GOMP_barrier) END(GOMP_barrier_cancel) END(GOMP_critical_end) END(GOMP_critical_name_end) END(GOMP_atomic_end)
END(GOMP_ordered_end) END(GOMP_loop_end) END(GOMP_loop_end_cancel) END(GOMP_loop_end_nowait) END(GOMP_sections_end)
END(GOMP_sections_end_cancel) END(GOMP_sections_end_nowait) END(GOMP_single_copy_end) END(GOMP_taskwait) END(GOMP_taskgroup_end)
END(GOMP_parallel_end) END(omp_unset_lock) END(omp_unset_nest_lock)

// libomp
END(__kmpc_barrier) END(__kmpc_cancel_barrier) END(__kmpc_end_critical) END(__kmpc_end_ordered) END(__kmpc_end_single) END(__kmpc_end_master)
END(__kmpc_end_masked) END(__kmpc_end_reduce) END(__kmpc_end_reduce_nowait) END(__kmpc_for_static_fini) END(__kmpc_dispatch_fini_4)
END(__kmpc_dispatch_fini_4u) END(__kmpc_dispatch_fini_8) END(__kmpc_dispatch_fini_8u) END(__kmpc_omp_taskwait) END(__kmpc_end_taskgroup)
