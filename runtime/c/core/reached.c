// reached.c: see reached.h.
#include "core/reached.h"

struct hd_call hd_call;
void (*hd_reached)(uint64_t pc);
void (*hd_leaving)(uint32_t depth, uint64_t pc);
