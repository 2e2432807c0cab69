// modules.h: the executable and its libraries: which of their memory instructions are
// scheduling points, and the controller's names of their addresses.
#ifndef HD_CORE_MODULES_H
#define HD_CORE_MODULES_H
#include <link.h>
#include <pthread.h>
#include "core/base.h"

// ---- modules.c: modules loaded when main starts
struct hd_text { uint64_t lo, len; uint8_t *bits; bool compiled /* see hd_has_hooks */, hooks /* see hd_calls_hooks */; };
enum { HD_TEXTS = 64 + HD_MAX_LATE };
extern HD_OWN struct hd_text hd_texts[HD_TEXTS];
extern HD_OWN uint32_t hd_ntexts, hd_npoints;
extern uint64_t hd_tls_at_main; // bytes of static TLS below the thread control block
void hd_points_set(const uint64_t *pc, uint32_t n);
// One byte for all addresses of instructions with equal low bits: 0 if none of them is a
// scheduling point. Nearly every access needs to check only this byte.
enum { HD_POINT_HINTS = 1 << 12 };
enum { HD_HINT_POINT = 1, HD_HINT_SHARED = 2 }; // the latter: memory/shared_accesses.c
extern HD_OWN uint8_t hd_point_hints[HD_POINT_HINTS];
static inline bool hd_maybe_point(uint64_t pc) { return HD_UNLIKELY(hd_point_hints[pc % HD_POINT_HINTS] != 0); }
static inline bool hd_is_point(uint64_t pc) {
  if (!hd_maybe_point(pc)) return false;
  for (uint32_t i = 0; i < hd_ntexts; i++) {
    uint64_t off = pc - hd_texts[i].lo;
    if (off < hd_texts[i].len) return hd_texts[i].bits[off >> 3] >> (off & 7) & 1;
  }
  return false;
}
void hd_modules_list(void);
void hd_hooks_called(uint64_t pc);  // the module that pc lies in was compiled with access hooks
// Reports whether a call at pc is made by a module with access hooks, or for one by a library of the
// compiler's, whose own synchronisation the runtime knows.
bool hd_calls_hooks(uint64_t pc);
// Reports whether the program or one of its libraries refers to one of the functions, which NULL ends.
bool hd_program_refers(const char *const *functions);
// Reports whether the text of the program, or of a library that is not part of the system, contains
// code that matches; match may read 3 bytes. Stores the module's path in *path unless path is NULL.
bool hd_program_contains(bool (*match)(const uint8_t code[3]), const char **path);
bool hd_path_of_system(const char *path);
bool hd_in_system(uint64_t pc);          // pc lies in one of those libraries
const char *hd_module_name(uint64_t pc); // the file name of the module that pc lies in
bool hd_is_constant(uint64_t address);   // address lies in a part of a module that is never written
bool hd_has_hooks(uint64_t pc);          // the module that pc lies in was compiled with access hooks
uintptr_t hd_module_start(uint64_t pc);  // where the module that pc lies in begins, with its ELF header; 0: in none
bool hd_in_loader(uint64_t pc);
uint64_t hd_runtime_offset(uint64_t pc); // from the runtime's load address
struct dl_phdr_info;
bool hd_module_read(struct dl_phdr_info *info, struct hd_module *m);
void hd_text_add(uint32_t slot, const struct hd_module *m); // m has been loaded
void hd_text_remove(uint32_t slot);
void hd_texts_reset(void); // keeps only the modules loaded when main started

// ---- late_modules.c: modules loaded and unloaded during an execution; a module's slot is its index in hd_shm->late
extern HD_OWN bool hd_late;        // a module has been loaded or unloaded in this execution
extern HD_OWN bool hd_renamed;     // hd_name changes some addresses in this execution
extern HD_OWN uint32_t hd_late_changes; // differs if modules have been loaded or unloaded, or an execution has begun
// Returns the n-th module that is loaded, NULL if there are not as many. by is how far it lies from where the module says.
struct hd_module *hd_late_loaded(uint32_t n, uint64_t *by);
extern HD_OWN uint32_t hd_loading; // number of threads inside the loader, for instance in a constructor or destructor
uint64_t hd_late_name(uint64_t address);
static inline uint64_t hd_name(uint64_t address) { return HD_LIKELY(!hd_renamed) ? address : hd_late_name(address); }
uint64_t hd_unnamed(uint64_t name); // the inverse of hd_name; 0: the module is not loaded
bool hd_known(uint64_t address);    // address lies in a module that is or was loaded
void hd_late_look(void);            // checks for modules that were loaded or unloaded
void hd_late_reset(void);
const char *hd_late_path(uint64_t address); // path of the module that covers or covered address; NULL: none
uintptr_t hd_late_start(uint64_t address);  // where the loaded module that covers address begins; 0: none does
const char *hd_late_gone(uint64_t address); // path of the unloaded module that covered address; NULL: none did
// Model the loader's locks, indexed by enum hd_loader_lock; loader/loader.c acquires them.
extern pthread_mutex_t hd_loader_locks[2];
// Model the locks of stdio streams; io/stream_locks.c acquires them.
enum { HD_STREAM_LOCKS = 256 };
extern pthread_mutex_t hd_stream_locks[HD_STREAM_LOCKS];
extern uint64_t hd_stream_lock_names[HD_STREAM_LOCKS];
#define HD_NAME_OF_LOCK(which) (1ull << HD_FD_OBJECT_BIT | (uint64_t)HD_FD_LOADER << HD_FD_KIND_SHIFT | (which))
#endif
