// loader.h: libraries that are loaded while the program runs.
#ifndef HD_LOADER_LOADER_H
#define HD_LOADER_LOADER_H
#include "core/registration.h"

// Keeps the library at an address loaded until the handle is dropped, and after that until dlclose.
// NULL: no library loaded during the run is there.
void *hd_library_hold(void *in, uint64_t pc);
void hd_library_drop(void *held);
void *hd_loader_cxx(const char *name); // of the C++ library that came with a plug-in
void hd_loader_pass(uint64_t pc);      // waits while another thread has the loader's lock
extern const struct hd_registration hd_loader;

// ---- thread_local.c: destructors of C++ thread_local objects
extern const struct hd_registration hd_thread_local;
#endif
