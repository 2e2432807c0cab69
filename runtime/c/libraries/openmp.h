// openmp.h: the order that OpenMP's constructs establish by the specification, for gcc's library
// (gomp.c) and LLVM's (libomp.c). Members of the structures are objects for hd_order_release and
// hd_order_acquire, and only their addresses matter.
//
// Approximations, which may hide a race but never cause a false one: the end of a wait for child
// tasks, a group or a barrier is ordered after every such task that has ended by then; tasks with
// dependences on one address are ordered even if they are not siblings.
#ifndef HD_LIBRARIES_OPENMP_H
#define HD_LIBRARIES_OPENMP_H
#include "libraries/libraries.h"

enum { HD_GROUPS = 16 }; // nested taskgroups of one task whose ends are distinguished

struct hd_team {
  uint32_t turns;
  uint32_t passes;          // never written
  char forked, joined, tasks, ordered, copied, barrier[2];
};
struct hd_task {
  struct hd_task *parent;   // NULL: implicit
  const char *group;        // the taskgroup in which it was created; NULL: none
  uint32_t depth;           // number of nested taskgroups that it has begun
  char begins, children, groups[HD_GROUPS];
};
struct hd_place {
  struct hd_team *team;
  struct hd_task *task;
  uint32_t round;           // number of the team's barriers that the thread has passed
  struct hd_place *outer;
  uint64_t library_pc;      // the thread's library_pc when it entered
};

// ---- parallel regions. The thread that encounters the region calls fork and join; each thread of the
// team calls enter and leave.
void hd_team_fork(struct hd_team *team);
void hd_team_join(struct hd_team *team);
void hd_team_enter(struct hd_place *place, struct hd_task *implicit, struct hd_team *team);
void hd_team_leave(void);

// ---- inside a region; ignored elsewhere
void hd_team_turn(void);
void hd_barrier_arrive(void);
void hd_barrier_leave(bool cancelled); // the region may have been cancelled, and threads be missing
void hd_ordered_arrive(void);
void hd_ordered_begin(void);
void hd_ordered_end(void);

// ---- explicit tasks
void hd_task_create(struct hd_task *task);   // its data are complete
void hd_task_begin(struct hd_place *place, struct hd_task *task, struct hd_team *team);
void hd_task_end(void);
void hd_task_wait(void);                     // the children have ended
void hd_group_begin(void);
void hd_group_wait(void);                    // the group's tasks have ended
void hd_group_end(void);                     // the same, and the group ends
// Called for each dependence of a task when the task begins or ends.
void hd_depend_begin(const void *address, bool writes);
void hd_depend_end(const void *address, bool writes);
#endif
