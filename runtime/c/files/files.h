// files.h: files, and undoing what an execution did to them.
#ifndef HD_FILES_FILES_H
#define HD_FILES_FILES_H
#include "core/registration.h"

int hd_open_at(int dir, const char *path, int flags, unsigned mode, uint64_t pc); // openat
extern const struct hd_registration hd_files, hd_directories, hd_shared_memory;

// ---- proc.c
enum { HD_PATH = 4096 };
enum hd_proc_use { HD_PROC_LOOK, HD_PROC_READ, HD_PROC_WRITE }; // to look up a name only, to open a file
// Returns the kernel's path for a path in /proc that has the program's identifier of a process or thread, and
// any other path as it is. out has room for HD_PATH bytes, as has path. Ends the execution if use cannot be undone.
const char *hd_in_proc(char *out, const char *path, enum hd_proc_use use);
// After hd_in_proc, when the file has been opened at fd: gives a file that says how the process is, in which the kernel counts what
// differs between equal executions, the program's numbers.
void hd_proc_opened(long fd);
// Outside of an execution: the same in a child of the program, where the kernel does everything else.
const char *hd_in_proc_of_child(char *out, const char *path);

// ---- undo.c
// Before a file is opened: keeps what the opening, and writing to it, will change. After it:
// fd is the descriptor, AT_FDCWD if it was opened and the descriptor is not known, else an error.
void hd_undo_open(int dir, const char *path, int flags);
void hd_undo_opened(long fd);
void hd_undo(void); // between executions
#endif
