// registration.c: the list of modules, and the table of operations.
#include "core/registration.h"

static const struct hd_operation none;
const struct hd_registration *const *hd_modules;
const struct hd_operation *hd_operations[HD_OP_COUNT];

void hd_modules_set(const struct hd_registration *const *modules) {
  hd_modules = modules;
  for (uint32_t op = 0; op < HD_OP_COUNT; op++) hd_operations[op] = &none;
  HD_EACH_MODULE(m)
    for (uint32_t i = 0; i < m->noperations; i++) hd_operations[m->operations[i].op] = &m->operations[i];
}
