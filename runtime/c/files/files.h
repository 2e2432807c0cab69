// files.h: files, and undoing what an execution did to them.
#ifndef HD_FILES_FILES_H
#define HD_FILES_FILES_H
#include "core/registration.h"

int hd_open_at(int dir, const char *path, int flags, unsigned mode, uint64_t pc); // openat
extern const struct hd_registration hd_files, hd_directories, hd_shared_memory;

// ---- undo.c
// Before a file is opened: keeps what the opening, and writing to it, will change. After it:
// fd is the descriptor, AT_FDCWD if it was opened and the descriptor is not known, else an error.
void hd_undo_open(int dir, const char *path, int flags);
void hd_undo_opened(long fd);
void hd_undo(void); // between executions
#endif
