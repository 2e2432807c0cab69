// order.c: orders the operations of an execution by happens-before, as internal/analysis/hb orders
// recorded events. That package is the reference: it explains each edge, and internal/observe's tests
// check that both find the same races. They differ only in how they store clocks. In both, an
// operation other than an access belongs to the time of its thread's access before it
// (hb.ForAccesses).
//
// The operation table states what an operation does and which results mean success
// (operations.h is generated from it).
#include <errno.h>
#include "core/beside_assembly.h"
#include "core/modules.h"
#include "memory/operations.h"
#include "memory/order.h"
#include "memory/visits.h"

// A lock, semaphore, barrier, condition, …, an atomic location, or a group of objects (ALL).
struct object {
  uint64_t key;
  struct hd_clock alone;   // released by exclusive owners, by posts and by atomic stores
  struct hd_clock shared;  // released by readers
  bool is_shared;          // a reader-writer lock: readers hold it
  uint32_t owner;          // a reader-writer lock: 1 + number of the thread that holds it alone
  uint32_t depth;
  // A barrier:
  struct hd_phase *phase;
  uint64_t total;          // threads of a generation; 0: unknown
  uint32_t arrived, generation;
  bool left;               // a thread has left the current generation
  // An atomic location: a granule of 8 bytes, one object for each group of bytes that atomics have accessed together.
  uint8_t mask;            // its bytes, which no other group has; 0: none any more
  struct object *next;     // the granule's next group
};

// An address has a separate object for each of these uses.
enum { SYNC, ATOMIC, TOLD, ALL };
enum { MOST_THREADS = 1 << 24 };
enum { ALL_CHANNELS, ALL_SIGNALS, ALL_VISITS, CANCELS }; // of ALL; a thread's cancellation is CANCELS + its number

static struct object **objects; // open addressing, by key
static uint32_t nobjects, room;
static struct hd_order **orders; // by thread number
static uint32_t norders, orders_room, alive;
static uint64_t *ended;          // last epochs of chains that other threads may continue
static uint32_t nended, ended_room, next_ended, nchains;
static struct hd_clock known;
static bool signalfds;           // signals may end a poll without a handler

void hd_order_begin(void) {
  known = (struct hd_clock){ 0 };
  objects = NULL;
  orders = NULL;
  ended = NULL;
  signalfds = false;
  nobjects = room = norders = orders_room = alive = nended = ended_room = next_ended = nchains = 0;
}

static uint32_t place(uint64_t key) { return (uint32_t)(hd_mix(key, 0x6f72646572) >> 32) & (room - 1); }

static struct object *object_at(uint32_t use, uint64_t address) {
  uint64_t key = (address << 2 | use) + 1;
  if (nobjects * 3 >= room * 2) {
    uint32_t more = room ? room * 2 : 64;
    struct object **old = objects, **fresh = hd_pool(more * sizeof *fresh);
    uint32_t n = room;
    if (!fresh) return NULL;
    objects = fresh;
    room = more;
    for (uint32_t i = 0; i < n; i++)
      if (old[i]) {
        uint32_t k = place(old[i]->key);
        while (objects[k]) k = (k + 1) & (room - 1);
        objects[k] = old[i];
      }
  }
  uint32_t k = place(key);
  while (objects[k] && objects[k]->key != key) k = (k + 1) & (room - 1);
  if (!objects[k]) {
    struct object *o = hd_pool(sizeof *o);
    if (!o) return NULL;
    o->key = key;
    objects[k] = o;
    nobjects++;
  }
  return objects[k];
}

static struct hd_order *numbered(uint32_t number) {
  if (number >= MOST_THREADS) return NULL; // damaged memory
  if (number >= orders_room) {
    uint32_t more = orders_room ? orders_room : 16;
    while (more <= number) more *= 2;
    struct hd_order **fresh = hd_pool(more * sizeof *fresh);
    if (!fresh) return NULL;
    hd_copy(fresh, orders, orders_room * sizeof *fresh);
    orders = fresh;
    orders_room = more;
  }
  if (!orders[number]) {
    if (!(orders[number] = hd_pool(sizeof **orders))) return NULL;
    orders[number]->number = number;
    alive++;
    if (number >= norders) norders = number + 1;
  }
  return orders[number];
}

struct hd_order *hd_order_of(struct hd_thread *t) {
  if (!t->order) t->order = numbered(t->number);
  return t->order;
}

// ---- chains (internal/analysis/hb/chains.go)
enum { LOOKS = 64 };

static void take_chain(struct hd_order *o) {
  for (uint32_t k = nended < LOOKS ? nended : LOOKS; k--; next_ended++) {
    if (next_ended >= nended) next_ended = 0;
    uint64_t e = ended[next_ended];
    if (!hd_clock_covers(&o->clock, e)) continue;
    ended[next_ended] = ended[--nended];
    o->chain = (uint32_t)(e >> 32);
    hd_clock_put(&o->clock, o->chain, (uint32_t)e + 1);
    return;
  }
  o->chain = nchains++;
  hd_clock_put(&o->clock, o->chain, 1);
}

static void give_chain(const struct hd_order *o) {
  if (nended == ended_room) {
    uint32_t more = ended_room ? 2 * ended_room : 16;
    uint64_t *fresh = hd_pool(more * sizeof *fresh);
    if (!fresh) return;
    hd_copy(fresh, ended, nended * sizeof *fresh);
    ended = fresh;
    ended_room = more;
  }
  next_ended = nended; // a thread's clock most likely covers the chains that ended last
  ended[nended++] = hd_order_epoch(o);
}

bool hd_order_access(struct hd_order *o) {
  if (!o->named) {
    o->named = true;
    take_chain(o);
    return true;
  }
  if (!o->tick) return false;
  o->tick = false;
  hd_clock_put(&o->clock, o->chain, hd_clock_time(&o->clock, o->chain) + 1);
  return true;
}

// Returns the state of the thread that t is joining, NULL if t is not blocked in a join. t acts only
// after it has acquired that thread's clock. (If t is cancelled in the join, it acts without, and a race
// may be missed.)
static const struct hd_order *waited_for(const struct hd_thread *t) {
  if (t->pend.op != HD_OP_THREAD_JOIN || !t->wait.on || t->wait.timed || hd.handlers) return NULL;
  return t->pend.aux < norders ? orders[t->pend.aux] : NULL;
}

const struct hd_clock *hd_order_known(void) {
  static struct hd_clock both;
  if (!known.times) both = (struct hd_clock){ 0 }; // its memory belonged to an earlier execution
  bool first = true;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *t = &hd_threads[i];
    if (t->ended) continue;
    const struct hd_order *o = hd_order_of(t), *other = waited_for(t);
    if (!o) continue;
    const struct hd_clock *c = &o->clock;
    if (other) {
      hd_clock_set(&both, c);
      hd_clock_join(&both, &other->clock);
      c = &both;
    }
    if (first) hd_clock_set(&known, c);
    else hd_clock_meet(&known, c);
    first = false;
  }
  return &known;
}

uint32_t hd_order_cost(void) { return norders + alive * nchains; }

// ---- events

// Adds the thread's clock to to. The thread's later accesses belong to a new time.
static void publish(struct hd_order *o, struct hd_clock *to) {
  if (o->named) o->tick = true;
  if (to) hd_clock_join(to, &o->clock);
}

static void leave(struct hd_order *o, struct object *at) {
  if (at) publish(o, &at->alone);
}

static void take(struct hd_order *o, const struct object *at) {
  if (at) hd_clock_join(&o->clock, &at->alone);
}

static void forget(struct object *at) {
  if (!at) return;
  hd_clock_forget(&at->alone);
  hd_clock_forget(&at->shared);
  at->is_shared = at->left = false;
  at->owner = at->depth = at->arrived = 0;
  at->total = 0;
  at->phase = NULL;
  at->generation++;
}

// ---- atomic locations (internal/analysis/hb/location.go)

// What volatile stores released is kept apart, at addresses that memory does not have: only inline assembly acquires it.
#define VOLATILE (1ull << 56)

// The bytes of an atomic operation: of one granule, or of two. Without a size, those that the latest atomic at
// the address had, or one.
struct bytes { struct object *granule[2]; uint8_t mask[2]; };

static struct bytes bytes_at(uint64_t address, uint32_t size) {
  struct bytes b = { .granule = { object_at(ATOMIC, address & ~7ull) } };
  uint32_t from = address & 7;
  if (!size) {
    b.mask[0] = (uint8_t)(1u << from);
    for (struct object *p = b.granule[0]; p; p = p->next)
      if (p->mask & b.mask[0]) b.mask[0] = p->mask;
    return b;
  }
  uint32_t bits = ((1u << (size < 16 ? size : 16)) - 1) << from;
  b.mask[0] = (uint8_t)bits;
  b.mask[1] = (uint8_t)(bits >> 8);
  if (b.mask[1]) b.granule[1] = object_at(ATOMIC, (address & ~7ull) + 8);
  return b;
}

// Returns the group of just these bytes of a granule. A new one has the releases to all of them.
static struct object *group(struct object *granule, uint8_t mask) {
  struct object *own = NULL;
  for (struct object *p = granule; p; p = p->next) {
    if (p->mask == mask) return p;
    if (!p->mask) own = p;
  }
  if (!own) {
    if (!(own = hd_pool(sizeof *own))) return NULL;
    own->next = granule->next;
    granule->next = own;
  }
  hd_clock_forget(&own->alone);
  for (struct object *p = granule; p; p = p->next) {
    if (p->mask & mask) hd_clock_join(&own->alone, &p->alone);
    p->mask &= (uint8_t)~mask;
  }
  own->mask = mask;
  return own;
}

static void load(struct hd_order *o, const struct bytes *b, bool acquire) {
  for (int i = 0; i < 2; i++)
    for (const struct object *p = b->granule[i]; p; p = p->next)
      if (p->mask & b->mask[i]) hd_clock_join(acquire ? &o->clock : &o->acquired, &p->alone);
}

// Makes what was released to any of the bytes that a read-modify-write reads the release of all that it writes.
static void continue_releases(const struct bytes *b) {
  bool any = false;
  for (int i = 0; i < 2; i++)
    for (const struct object *p = b->granule[i]; p; p = p->next) any = any || p->mask & b->mask[i];
  if (!any) return;
  struct object *low = group(b->granule[0], b->mask[0]), *high = b->granule[1] ? group(b->granule[1], b->mask[1]) : NULL;
  if (!low || !high) return;
  hd_clock_join(&low->alone, &high->alone);
  hd_clock_set(&high->alone, &low->alone);
}

// Adds the clock to what was released to the bytes.
static void add(const struct bytes *b, const struct hd_clock *clock) {
  for (int i = 0; i < 2; i++) {
    struct object *at = b->granule[i] ? group(b->granule[i], b->mask[i]) : NULL;
    if (at) hd_clock_join(&at->alone, clock);
  }
}

// Makes the clock what was released to the bytes; NULL: nothing was.
static void replace(const struct bytes *b, const struct hd_clock *clock) {
  for (int i = 0; i < 2; i++) {
    struct object *at = b->granule[i] ? group(b->granule[i], b->mask[i]) : NULL;
    if (!at) continue;
    if (clock) hd_clock_set(&at->alone, clock);
    else hd_clock_forget(&at->alone);
  }
}

static void merge(struct hd_order *o, uint64_t address, uint32_t size) {
  struct bytes b = bytes_at(address, size);
  publish(o, NULL);
  add(&b, &o->clock);
}

// ---- operations

static bool done(const struct hd_meaning *m, int32_t result) {
  switch (m->ok) {
  case HD_OK_ANY: return true;
  case HD_OK_LOCKED: return result == 0 || result == EOWNERDEAD;
  case HD_OK_RELOCKED: return result != ENOTRECOVERABLE;
  case HD_OK_ONE: return result == 1;
  case HD_OK_STARTED: return result == 0 || result == EINPROGRESS;
  }
  return result == 0;
}

static void own(struct hd_order *o, struct object *at) {
  if (!at) return;
  at->depth = !at->is_shared && at->owner == o->number + 1 ? at->depth + 1 : 1;
  at->owner = o->number + 1;
  at->is_shared = false;
  hd_clock_join(&o->clock, &at->alone);
  hd_clock_join(&o->clock, &at->shared);
}

static void rwlock(struct hd_order *o, const struct hd_meaning *m, struct object *at, int32_t result) {
  if (!at) return;
  switch (m->does) {
  case HD_DOES_ACQUIRE:
    if (done(m, result)) own(o, at);
    break;
  case HD_DOES_ACQUIRE_SHARED:
    if (!done(m, result)) break;
    at->is_shared = true;
    at->owner = 0;
    take(o, at);
    break;
  case HD_DOES_RELEASE:
    if (result) break;
    if (at->is_shared || at->owner != o->number + 1) {
      publish(o, &at->shared);
      break;
    }
    if (!--at->depth) at->owner = 0;
    leave(o, at);
    break;
  case HD_DOES_INIT: case HD_DOES_DESTROY:
    if (!result) forget(at);
  }
}

static void once(struct hd_order *o, const struct hd_meaning *m, uint64_t address, uint64_t value, int32_t result) {
  struct object *at = object_at(SYNC, address);
  if (result) return;
  if (m->does == HD_DOES_RELEASE) {
    leave(o, at);
    merge(o, address, 0); // compiled code reads a C++ guard with an acquire load
  } else if (m->does == HD_DOES_BEGIN) {
    if (value == 1) own(o, at);
    else take(o, at);
  }
}

static void wake(struct hd_order *o, uint64_t number) {
  struct hd_order *u = number < norders ? orders[number] : NULL;
  if (!u) return;
  u->woken = true;
  publish(o, &u->waker);
}

static uint64_t waiting(uint64_t address) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < norders; i++) n += orders[i] && orders[i]->queued && orders[i]->waits_at == address;
  return n;
}

// keep: the event does not name the woken threads, so each waiter may be one of them and stays in
// the queue.
static void wake_all(struct hd_order *o, uint64_t address, bool keep) {
  for (uint32_t i = 0; i < norders; i++)
    if (orders[i] && orders[i]->queued && orders[i]->waits_at == address) {
      orders[i]->queued = keep;
      wake(o, i);
    }
}

// Conditions and futexes.
static void queue(struct hd_order *o, const struct hd_meaning *m, const struct hd_pending *p, uint64_t value, int32_t result, uint32_t flags) {
  switch (m->does) {
  case HD_DOES_WAIT:
    if (result) break;
    o->queued = true;
    o->woken = false;
    o->waits_at = p->obj;
    hd_clock_forget(&o->waker);
    if (m->of == HD_OF_CONDITION) leave(o, object_at(SYNC, p->aux));
    break;
  case HD_DOES_RESUME:
    o->queued = false;
    if (o->woken && (result == 0 || ((result == EOWNERDEAD || result == ENOTRECOVERABLE) && !(flags & HD_EV_TIMEOUT)))) hd_clock_join(&o->clock, &o->waker);
    o->woken = false;
    hd_clock_forget(&o->waker);
    if (m->of == HD_OF_CONDITION && done(m, result)) own(o, object_at(SYNC, p->aux));
    break;
  case HD_DOES_LEAVE:
    o->queued = false;
    break;
  case HD_DOES_WAKE_ONE:
    if (value && value <= norders) {
      if (orders[value - 1]) orders[value - 1]->queued = false;
      wake(o, value - 1);
    }
    break;
  case HD_DOES_WAKE_ALL:
    wake_all(o, p->obj, false);
    break;
  case HD_DOES_WAKE_SOME:
    if (!value) break;
    if (value == 1 && p->aux && p->aux <= norders) {
      if (orders[p->aux - 1]) orders[p->aux - 1]->queued = false;
      wake(o, p->aux - 1);
    } else {
      wake_all(o, p->obj, value < waiting(p->obj));
    }
    break;
  case HD_DOES_INIT: case HD_DOES_DESTROY:
    if (!result) forget(object_at(SYNC, p->obj));
  }
}

static void barrier(struct hd_order *o, const struct hd_meaning *m, struct object *at, uint64_t value, int32_t result) {
  if (!at) return;
  switch (m->does) {
  case HD_DOES_INIT: case HD_DOES_DESTROY:
    if (result) break;
    forget(at);
    if (m->does == HD_DOES_INIT) at->total = value;
    break;
  case HD_DOES_ARRIVE:
    if (!at->arrived || value == 1 || at->left || !at->phase) {
      at->arrived = 0;
      at->left = false;
      at->generation++;
      at->phase = hd_pool(sizeof *at->phase);
      if (!at->phase) return;
    }
    publish(o, &at->phase->arrived);
    o->phase = at->phase;
    o->generation = at->generation;
    at->arrived = at->total && at->arrived + 1 >= at->total ? 0 : at->arrived + 1;
    break;
  case HD_DOES_DEPART:
    if (!at->total) at->left = at->left || o->generation == at->generation;
    if (o->phase) hd_clock_join(&o->clock, &o->phase->arrived);
    o->phase = NULL;
  }
}

static bool channel(uint64_t object, uint32_t *kind) {
  *kind = object >> HD_FD_KIND_SHIFT & 15;
  return object >> HD_FD_OBJECT_BIT == 1 && *kind;
}

// Signals, timers, cancellations and descriptors.
static void tell(struct hd_order *o, const struct hd_meaning *m, const struct hd_pending *p, uint64_t value, int32_t result, uint32_t flags) {
  uint32_t kind;
  bool leads = channel(p->obj, &kind), apart = leads && kind != HD_FD_FILE && kind != HD_FD_EXTERNAL;
  signalfds |= leads && kind == HD_FD_SIGNALFD;
  switch (m->does) {
  case HD_DOES_SEND: case HD_DOES_EXPIRE:
    if (!result) leave(o, object_at(ALL, ALL_SIGNALS));
    break;
  case HD_DOES_TAKE:
    if (done(m, result) && ((value > 0 && !(flags & HD_EV_NODECISION)) || m->wants)) take(o, object_at(ALL, ALL_SIGNALS));
    break;
  case HD_DOES_ARM: {
    struct hd_order *u = p->aux ? numbered((uint32_t)p->aux - 1) : NULL;
    if (u) publish(o, &u->clock);
    break;
  }
  case HD_DOES_CANCEL:
    leave(o, object_at(ALL, CANCELS + value));
    break;
  case HD_DOES_TRANSMIT: case HD_DOES_CLOSE: case HD_DOES_CONNECT: case HD_DOES_CONTROL:
    if (!done(m, result)) break;
    if (apart) leave(o, object_at(TOLD, p->obj));
    leave(o, object_at(ALL, ALL_CHANNELS));
    break;
  case HD_DOES_RECEIVE: case HD_DOES_ACCEPT:
    if (result) break;
    if (leads && kind == HD_FD_SIGNALFD) take(o, object_at(ALL, ALL_SIGNALS));
    if (apart) take(o, object_at(TOLD, p->obj));
    else if (leads && kind == HD_FD_EXTERNAL) take(o, object_at(ALL, ALL_CHANNELS));
    break;
  case HD_DOES_POLL:
    if (result || !value) break;
    take(o, object_at(ALL, ALL_CHANNELS));
    if (signalfds) take(o, object_at(ALL, ALL_SIGNALS));
  }
}

void hd_order_volatile(struct hd_thread *t, uint64_t address, uint32_t size) {
  struct hd_order *o = hd_order_of(t);
  if (!o) return;
  struct bytes b = bytes_at(address + VOLATILE, size);
  if (!b.granule[0]) return;
  publish(o, NULL);
  replace(&b, &o->clock);
  t->serial = 0;
}

static void atomic(struct hd_order *o, const struct hd_meaning *m, const struct hd_pending *p, int32_t result) {
  uint32_t order = (p->flags & HD_EV_ORDER_MASK) >> 4;
  bool acquire = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
  bool release = order != __ATOMIC_RELAXED && order != __ATOMIC_CONSUME && order != __ATOMIC_ACQUIRE;
  if (m->does == HD_DOES_FENCE) {
    if (acquire) hd_clock_join(&o->clock, &o->acquired);
    if (release) {
      publish(o, NULL);
      hd_clock_set(&o->released, &o->clock);
      o->fenced = true;
    }
    return;
  }
  struct bytes b = bytes_at(p->obj, p->size);
  if (!b.granule[0]) return;
  if (HD_UNLIKELY(hd_beside_assembly) && acquire && hd_instruction_kind(p->pc)) {
    struct bytes volatiles = bytes_at(p->obj + VOLATILE, p->size);
    load(o, &volatiles, true);
  }
  switch (m->does) {
  case HD_DOES_ATOMIC_READ:
    load(o, &b, acquire);
    break;
  case HD_DOES_COMPARE:
    load(o, &b, acquire); // a failed compare-and-swap has the failure order
    if (!result) break;
    goto writes;
  case HD_DOES_EXCHANGE:
    load(o, &b, acquire);
  writes:
    continue_releases(&b);
    if (release) {
      publish(o, NULL);
      add(&b, &o->clock);
    } else if (o->fenced) {
      add(&b, &o->released);
    }
    break;
  case HD_DOES_ATOMIC_WRITE:
    if (release) publish(o, NULL);
    replace(&b, release ? &o->clock : o->fenced ? &o->released : NULL);
  }
}

static void create(struct hd_order *o, uint64_t number, int32_t result) {
  struct hd_order *child = result ? NULL : numbered((uint32_t)number);
  if (child) publish(o, &child->clock);
}

static void finish(struct hd_order *o) {
  if (o->ended) return;
  o->ended = true;
  alive--;
  if (o->named) give_chain(o);
}

static void event(struct hd_order *o, const struct hd_pending *p, uint64_t value, int32_t result, uint32_t flags) {
  const struct hd_meaning *m = &hd_meanings[p->op];
  switch (m->does) {
  case HD_DOES_CREATE:
    create(o, value, result);
    return;
  case HD_DOES_JOIN:
    if (result == 0 && value < norders && orders[value]) hd_clock_join(&o->clock, &orders[value]->clock);
    else if (result == ECANCELED) take(o, object_at(ALL, CANCELS + o->number));
    return;
  case HD_DOES_FINISH:
    finish(o);
    return;
  case HD_DOES_ATOMIC_READ: case HD_DOES_ATOMIC_WRITE: case HD_DOES_EXCHANGE: case HD_DOES_COMPARE: case HD_DOES_FENCE:
    atomic(o, m, p, result);
    return;
  // Order established by libraries without access hooks (libraries/order.c), treated as by atomics.
  case HD_DOES_OBSERVE: {
    struct bytes b = bytes_at(p->obj, p->size);
    load(o, &b, true);
    return;
  }
  case HD_DOES_MERGE:
    merge(o, p->obj, p->size);
    return;
  }
  if (result == ECANCELED) take(o, object_at(ALL, CANCELS + o->number));
  switch (m->of) {
  case HD_OF_MUTEX: {
    struct object *at = object_at(SYNC, p->obj);
    if (!done(m, result)) break;
    if (m->does == HD_DOES_ACQUIRE) take(o, at);
    else if (m->does == HD_DOES_RELEASE || m->does == HD_DOES_ABANDON) leave(o, at);
    else if (m->does == HD_DOES_INIT || m->does == HD_DOES_DESTROY) forget(at);
    break;
  }
  case HD_OF_RWLOCK:
    rwlock(o, m, object_at(SYNC, p->obj), result);
    break;
  case HD_OF_ONCE:
    once(o, m, p->obj, value, result);
    break;
  case HD_OF_CONDITION: case HD_OF_FUTEX:
    queue(o, m, p, value, result, flags);
    break;
  case HD_OF_SEMAPHORE: {
    struct object *at = object_at(SYNC, p->obj);
    if (result) break;
    if (m->does == HD_DOES_UP) leave(o, at);
    else if (m->does == HD_DOES_DOWN) take(o, at);
    else if (m->does == HD_DOES_INIT || m->does == HD_DOES_DESTROY) forget(at);
    break;
  }
  case HD_OF_BARRIER:
    barrier(o, m, object_at(SYNC, p->obj), value, result);
    break;
  default:
    tell(o, m, p, value, result, flags);
  }
}

void hd_order_visit(struct hd_thread *t) {
  struct hd_order *o = hd_order_of(t);
  struct object *at = o ? object_at(ALL, ALL_VISITS) : NULL;
  take(o, at);
  leave(o, at);
  t->serial = 0; // its next access passes through hd_visit_over
}

void hd_order_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  if (HD_UNLIKELY(hd_visits)) hd_visit_over();
  struct hd_order *o = hd_order_of(t);
  if (!o) return;
  event(o, &t->pend, value, result, flags | t->pend.flags);
  if (o->tick) t->serial = 0; // its next access is in another epoch
}
