// entry.S: functions of the loader that depend on their caller's address (hd_loader_entry).
#include "arch/asm.h"
	.text
	entry	dlopen, 0
	entry	dlmopen, 1
	entry	dlsym, 2
	enter_by hd_loader_entry
