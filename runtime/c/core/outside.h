// outside.h: waits that only another process can end, while threads are enabled.
#ifndef HD_CORE_OUTSIDE_H
#define HD_CORE_OUTSIDE_H
#include "core/run.h"

// What a turn of waiting for other processes has shown. NOT_YET: they may still end a wait. NEVER: so they may, but
// the execution has waited long enough for that.
enum hd_outside { HD_OUTSIDE_NOTHING, HD_OUTSIDE_ACTED, HD_OUTSIDE_NOT_YET, HD_OUTSIDE_NEVER };
enum hd_outside hd_outside_rest(void);          // the enabled threads have long made no progress
void hd_outside_long(void);                     // called at each step of a long execution's time
bool hd_outside_for(const struct hd_thread *t); // a script says that t goes on now. True: it can
#endif
