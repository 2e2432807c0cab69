// assembly.S: hooks around instructions of inline assembly.
#include "assembly_hooks.h"
	assembly_hooks hd_assembly_before, hd_assembly_after
