// assembly.S: hooks around instructions of inline assembly.
#include "assembly_hooks.h"
	assembly_hooks hl_assembly_before, hl_assembly_after
