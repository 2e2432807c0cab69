// identity.h: identifiers of processes in a child of the program. The child runs on its own, and the kernel has other
// identifiers for it, its parent and its siblings than the program has (threads/identifiers.c).
#ifndef HD_CORE_IDENTITY_H
#define HD_CORE_IDENTITY_H
#include "core/run.h"

// This process has just been forked. number: what fork returned in the parent; 0: the kernel's identifier. program: the
// kernel's identifier of the program.
void hd_identity_child(int number, long program);
// In a child; anywhere else these return id.
long hd_identity_kernels(int id);       // the kernel's identifier of the process that the program knows by id
long hd_identity_kernels_group(int id); // the same of a process group
int hd_identity_seen(long id);          // the program's identifier of the process, group or session that the kernel knows by id
bool hd_identity_is_program(long id);   // the kernel's id is that of the program itself
bool hd_identity_with_program(void);    // this process belongs to the program's process group
#endif
