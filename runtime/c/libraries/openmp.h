// openmp.h: OpenMP's constructs and what they order, by the specification, for gcc's library
// (gomp.c) and LLVM's (libomp.c). The structures' members are the objects that hd_order_release and hd_order_acquire name, and
// only addresses matter.
//
// Approximations, all of which may hide a race and invent none: what ends a wait for child
// tasks, a group or a barrier is ordered after every such task that has ended by then; tasks with
// dependences on one address are ordered even if they are not siblings.
#ifndef HD_LIBRARIES_OPENMP_H
#define HD_LIBRARIES_OPENMP_H
#include "libraries/libraries.h"

enum { HD_GROUPS = 16 }; // taskgroups within each other in one task, whose ends are told apart

struct hd_team {
  uint32_t turns;
  char forked, joined, tasks, ordered, copied, barrier[2];
};
struct hd_task {
  struct hd_task *parent;   // NULL: implicit
  const char *group;        // the taskgroup that it was created in; NULL: none
  uint32_t depth;           // taskgroups that it has begun
  char begins, children, groups[HD_GROUPS];
};
struct hd_place {
  struct hd_team *team;
  struct hd_task *task;
  uint32_t round;           // barriers of the team that the thread has passed
  struct hd_place *outer;
  uint64_t library_pc;      // of the thread, when it came here
};

// ---- parallel regions. fork and join are the thread's that meets the region; enter and leave are
// of each thread of the team.
void hd_team_fork(struct hd_team *team);
void hd_team_join(struct hd_team *team);
void hd_team_enter(struct hd_place *place, struct hd_task *implicit, struct hd_team *team);
void hd_team_leave(void);

// ---- inside a region; ignored elsewhere
void hd_team_turn(void);
void hd_barrier_arrive(void);
void hd_barrier_leave(void);
void hd_ordered_begin(void);
void hd_ordered_end(void);

// ---- explicit tasks
void hd_task_create(struct hd_task *task);   // its data are complete
void hd_task_begin(struct hd_place *place, struct hd_task *task, struct hd_team *team);
void hd_task_end(void);
void hd_task_wait(void);                     // the children have ended
void hd_group_begin(void);
void hd_group_end(void);
// Dependences of the task that begins or ends here.
void hd_depend_begin(const void *address, bool writes);
void hd_depend_end(const void *address, bool writes);
#endif
