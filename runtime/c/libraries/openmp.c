// openmp.c: the order that OpenMP's constructs establish (openmp.h).
#include "libraries/openmp.h"

static void go_to(struct hd_place *place, struct hd_task *task, struct hd_team *team) {
  struct hd_thread *t = hd.cur;
  *place = (struct hd_place){ .team = team, .task = task, .outer = t->place, .library_pc = t->library_pc };
  t->place = place;
  t->library_pc = 0; // from here the program's code runs
}

static void go_back(void) {
  struct hd_thread *t = hd.cur;
  t->library_pc = t->place->library_pc;
  t->place = t->place->outer;
}

// ---- parallel regions
void hd_team_fork(struct hd_team *team) { hd_order_always_release(&team->forked); }

void hd_team_enter(struct hd_place *place, struct hd_task *implicit, struct hd_team *team) {
  hd_order_always_acquire(&team->forked);
  *implicit = (struct hd_task){ 0 };
  go_to(place, implicit, team);
}

void hd_team_leave(void) {
  hd_order_always_release(&hd.cur->place->team->joined);
  go_back();
}

void hd_team_join(struct hd_team *team) {
  hd_order_always_acquire(&team->joined);
  hd_order_acquire(&team->tasks);
}

// ---- taking turns (turns.S)
struct record { const char *name; void *real; uint64_t argument; };

__attribute__((visibility("hidden"))) void *hd_library_turn(struct record *r, uint64_t pc) {
  struct hd_library_function f = { r->name, &r->real };
  if (HD_UNLIKELY(!r->real)) hd_library_find(&f);
  if (hd_active()) {
    uint64_t outer = hd.cur->library_pc;
    hd.cur->library_pc = pc;
    hd_team_turn();
    hd.cur->library_pc = outer;
  }
  return r->real;
}

// ---- inside of a region
//
// Returns the running thread's place in a region. A task outside of any region runs at once and has
// no team.
static struct hd_place *region(void) { return hd.cur->place && hd.cur->place->team ? hd.cur->place : NULL; }

void hd_team_turn(void) {
  struct hd_place *p = region();
  if (p) hd_order_turn(&p->team->turns, &p->team->turns);
}

// No thread arrives at the round after next before all have left this one, so two objects suffice.
void hd_barrier_arrive(void) {
  struct hd_place *p = region();
  if (p) hd_order_always_release(&p->team->barrier[p->round & 1]);
}

void hd_barrier_leave(bool cancelled) {
  struct hd_place *p = region();
  if (!p) return;
  const char *barrier = &p->team->barrier[p->round++ & 1];
  if (cancelled) hd_order_acquire(barrier);
  else hd_order_always_acquire(barrier);
  hd_order_acquire(&p->team->tasks);
}

void hd_ordered_arrive(void) {
  if (region()) hd_order_pass(&region()->team->passes);
}
void hd_ordered_begin(void) {
  if (region()) hd_order_always_acquire(&region()->team->ordered);
}
void hd_ordered_end(void) {
  if (region()) hd_order_always_release(&region()->team->ordered);
}

// ---- tasks
static const char *group_of(const struct hd_task *t) { return t->depth ? &t->groups[(t->depth - 1) % HD_GROUPS] : t->group; }

void hd_task_create(struct hd_task *task) {
  struct hd_place *p = hd.cur->place;
  *task = (struct hd_task){ .parent = p ? p->task : NULL, .group = p ? group_of(p->task) : NULL };
  hd_order_release(&task->begins);
}

void hd_task_begin(struct hd_place *place, struct hd_task *task, struct hd_team *team) {
  go_to(place, task, team);
  if (team) hd_order_turn(&team->turns, &team->turns);
  hd_order_acquire(&task->begins);
}

void hd_task_end(void) {
  const struct hd_place *p = hd.cur->place;
  const struct hd_task *task = p->task;
  if (task->parent) hd_order_release(&task->parent->children);
  if (task->group) hd_order_release(task->group);
  if (p->team) hd_order_release(&p->team->tasks);
  go_back();
}

void hd_task_wait(void) {
  if (hd.cur->place) hd_order_acquire(&hd.cur->place->task->children);
}

void hd_group_begin(void) {
  if (hd.cur->place) hd.cur->place->task->depth++;
}

void hd_group_wait(void) {
  if (hd.cur->place) hd_order_acquire(group_of(hd.cur->place->task));
}

void hd_group_end(void) {
  hd_group_wait();
  if (hd.cur->place) hd.cur->place->task->depth--;
}

// A reading task is ordered after the last writing task, and a writing task also after the reading
// ones. Two byte addresses within the object distinguish the two kinds.
void hd_depend_begin(const void *address, bool writes) {
  hd_order_acquire(address);
  if (writes) hd_order_acquire((const char *)address + 1);
}
void hd_depend_end(const void *address, bool writes) { hd_order_release((const char *)address + !writes); }
