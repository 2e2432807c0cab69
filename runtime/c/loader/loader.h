// loader.h: modules that are loaded while the program runs.
#ifndef HD_LOADER_H
#define HD_LOADER_H
#include <link.h>
#include <pthread.h>
#include "core/rt.h"

// core/modules.c
bool hd_module_read(struct dl_phdr_info *info, struct hd_module *m);
void hd_text_add(uint32_t slot, const struct hd_module *m); // m is loaded now
void hd_text_remove(uint32_t slot);
void hd_texts_reset(void); // to those at main

// core/late_modules.c; a module's slot is its index in hd_shm->late
void hd_late_reset(void);
uint64_t hd_unnamed(uint64_t name); // the inverse of hd_name; 0: the module is not there
#define HD_NAME_OF_LOCK(which) (1ull << HD_FD_OBJECT_BIT | (uint64_t)HD_FD_LOADER << HD_FD_KIND_SHIFT | (which))

// memory/address_space.c
void hd_area_prepare(void);
bool hd_area_above(uintptr_t address); // nothing of the program's is mapped there during a run
bool hd_area_empty(void);

// loader.c
extern pthread_mutex_t hd_loader_locks[2]; // by enum hd_loader_lock
#endif
