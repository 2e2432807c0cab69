// undo.h: putting back files and directories that an execution changed.
#ifndef HD_UNDO_H
#define HD_UNDO_H
#include <sys/stat.h>
#include "core/rt.h"

// Before a file is opened: keeps what the opening, and writing to it, will change. After it:
// fd is the descriptor, AT_FDCWD if it was opened and the descriptor is not known, else an error.
void hd_undo_open(int dir, const char *path, int flags);
void hd_undo_opened(long fd);
void hd_undo(void); // between executions
#endif
