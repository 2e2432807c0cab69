// cxx_containers.c: the functions of libstdc++ that link and unlink the nodes of std::list, std::map and std::set. The library is compiled without
// access hooks, so a thread that walks a container while another one changes it would race with nobody, and no order of the two would
// be explored. These do the same as the library's, and report what they access as the program's.
#include <stdbool.h>
#include <stddef.h>
#include "core/modules.h"
#include "core/run.h"
#include "memory/access.h"

// The program's memory, which may be bad: a fault there is the call's.
static HD_PROGACCESS void *loaded(void *const *p) { return *(void *volatile const *)p; }
static HD_PROGACCESS void stored(void **p, void *v) { *(void *volatile *)p = v; }
static HD_PROGACCESS int loaded_colour(const int *p) { return *(volatile const int *)p; }
static HD_PROGACCESS void stored_colour(int *p, int v) { *(volatile int *)p = v; }

// What a call reports: its address, 0 for one by code without hooks, whose own synchronisation is not known either.
static inline uint64_t reporting(uint64_t pc) {
  if (!hd_active() || !hd_has_hooks(pc)) return 0;
  hd.cur->pend.pc = pc;
  return pc;
}
static inline void seen(const void *p, uint32_t size, bool write, uint64_t pc) {
  if (!pc) return;
  hd_access_word(p, size, write, pc);
  hd.cur->pend.pc = pc;
}

#define GET(field) ({ seen(&(field), sizeof(void *), false, pc); (__typeof__(field))loaded((void *const *)&(field)); })
#define SET(field, value) \
  do { \
    void *set_value = (value); \
    seen(&(field), sizeof(void *), true, pc); \
    stored((void **)&(field), set_value); \
  } while (0)

// ---- std::list: a circle of nodes, of which one is the list's own
struct list_node { struct list_node *next, *prev; };

#define HOOK _ZNSt8__detail15_List_node_base7_M_hookEPS0_
void HOOK(struct list_node *node, struct list_node *position);
HD_EXPORT void HOOK(struct list_node *node, struct list_node *position) {
  uint64_t pc = reporting(HD_RA);
  SET(node->next, position);
  struct list_node *before = GET(position->prev);
  SET(node->prev, before);
  SET(before->next, node);
  SET(position->prev, node);
}

#define UNHOOK _ZNSt8__detail15_List_node_base9_M_unhookEv
void UNHOOK(struct list_node *node);
HD_EXPORT void UNHOOK(struct list_node *node) {
  uint64_t pc = reporting(HD_RA);
  struct list_node *after = GET(node->next), *before = GET(node->prev);
  SET(before->next, after);
  SET(after->prev, before);
}

// Moves the nodes from first to before end in front of a node.
#define TRANSFER _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_
void TRANSFER(struct list_node *node, struct list_node *first, struct list_node *end);
HD_EXPORT void TRANSFER(struct list_node *node, struct list_node *first, struct list_node *end) {
  uint64_t pc = reporting(HD_RA);
  if (node == end) return;
  struct list_node *last = GET(end->prev), *out = GET(first->prev), *in = GET(node->prev);
  SET(last->next, node);
  SET(out->next, end);
  SET(in->next, first);
  SET(node->prev, last);
  SET(end->prev, out);
  SET(first->prev, in);
}

#define REVERSE _ZNSt8__detail15_List_node_base10_M_reverseEv
void REVERSE(struct list_node *node);
HD_EXPORT void REVERSE(struct list_node *node) {
  uint64_t pc = reporting(HD_RA);
  struct list_node *n = node;
  do {
    struct list_node *after = GET(n->next), *before = GET(n->prev);
    SET(n->next, before);
    SET(n->prev, after);
    n = after;
  } while (n != node);
}

// Gives the nodes of each list to the other.
static inline void give(struct list_node *from, struct list_node *to, struct list_node *first, struct list_node *last, uint64_t pc) {
  if (first == from) {
    SET(to->next, to);
    SET(to->prev, to);
    return;
  }
  SET(to->next, first);
  SET(to->prev, last);
  SET(first->prev, to);
  SET(last->next, to);
}
#define SWAP _ZNSt8__detail15_List_node_base4swapERS0_S1_
void SWAP(struct list_node *one, struct list_node *two);
HD_EXPORT void SWAP(struct list_node *one, struct list_node *two) {
  uint64_t pc = reporting(HD_RA);
  if (one == two) return;
  struct list_node *first = GET(one->next), *last = GET(one->prev), *other = GET(two->next), *others = GET(two->prev);
  give(two, one, other, others, pc);
  give(one, two, first, last, pc);
}

// ---- std::map and std::set: red-black trees (Guibas and Sedgewick, FOCS'78) with a node of the container's own, whose parent is the root, and
// whose left and right are the first and the last node
enum { RED, BLACK };
struct tree_node {
  int colour;
  struct tree_node *parent, *left, *right;
};

#define COLOUR(node) ({ struct tree_node *of = (node); seen(&of->colour, sizeof(int), false, pc); loaded_colour(&of->colour); })
#define PAINT(node, value) \
  do { \
    struct tree_node *of = (node); \
    int paint_value = (value); \
    seen(&of->colour, sizeof(int), true, pc); \
    stored_colour(&of->colour, paint_value); \
  } while (0)

static inline bool black(struct tree_node *n, uint64_t pc) { return !n || COLOUR(n) == BLACK; }

// The child of a node on one side, or on the other.
#define SIDE(node, left_one) (*((left_one) ? &(node)->left : &(node)->right))

static struct tree_node *farthest(struct tree_node *n, bool left, uint64_t pc) {
  for (struct tree_node *child; (child = GET(SIDE(n, left))) != NULL;) n = child;
  return n;
}

// The next node in a direction.
static struct tree_node *step(struct tree_node *n, bool back, uint64_t pc) {
  if (back && COLOUR(n) == RED) { // the node before the end is the last one
    struct tree_node *up = GET(n->parent);
    if (GET(up->parent) == n) return GET(n->right);
  }
  struct tree_node *child = GET(SIDE(n, back));
  if (child) return farthest(child, !back, pc);
  struct tree_node *up = GET(n->parent);
  while (n == GET(SIDE(up, back))) {
    n = up;
    up = GET(up->parent);
  }
  // From the last node forward, n is the root by now, and up the end: the root's right child is then the end's parent.
  return back || GET(n->right) != up ? up : n;
}
#define STEP(name, back) \
  struct tree_node *name(struct tree_node *n); \
  HD_EXPORT struct tree_node *name(struct tree_node *n) { return step(n, back, reporting(HD_RA)); }
STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, false)
STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, false)
STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, true)
STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, true)

// Puts a node, or nothing, in the place of another one below that one's parent.
static void replace(struct tree_node *old, struct tree_node *new, struct tree_node *end, uint64_t pc) {
  struct tree_node *up = GET(old->parent);
  if (GET(end->parent) == old) SET(end->parent, new);
  else if (GET(up->left) == old) SET(up->left, new);
  else SET(up->right, new);
  if (new) SET(new->parent, up);
}

// Moves a node down to one side, and its child on the other side up.
static void rotate(struct tree_node *n, bool left, struct tree_node *end, uint64_t pc) {
  struct tree_node *up = GET(SIDE(n, !left)), *inner = GET(SIDE(up, left));
  SET(SIDE(n, !left), inner);
  if (inner) SET(inner->parent, n);
  replace(n, up, end, pc);
  SET(SIDE(up, left), n);
  SET(n->parent, up);
}

#define INSERT _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_
void INSERT(bool left, struct tree_node *n, struct tree_node *up, struct tree_node *end);
HD_EXPORT void INSERT(bool left, struct tree_node *n, struct tree_node *up, struct tree_node *end) {
  uint64_t pc = reporting(HD_RA);
  SET(n->parent, up);
  SET(n->left, NULL);
  SET(n->right, NULL);
  PAINT(n, RED);
  if (left) {
    SET(up->left, n); // the end's, too, if the tree is empty
    if (up == end) {
      SET(end->parent, n);
      SET(end->right, n);
    } else if (GET(end->left) == up) {
      SET(end->left, n);
    }
  } else {
    SET(up->right, n);
    if (GET(end->right) == up) SET(end->right, n);
  }
  while (n != GET(end->parent) && COLOUR(up = GET(n->parent)) == RED) {
    struct tree_node *top = GET(up->parent);
    bool on_left = GET(top->left) == up;
    struct tree_node *uncle = GET(SIDE(top, !on_left));
    if (!black(uncle, pc)) {
      PAINT(up, BLACK);
      PAINT(uncle, BLACK);
      PAINT(top, RED);
      n = top;
      continue;
    }
    if (n == GET(SIDE(up, !on_left))) {
      rotate(up, on_left, end, pc);
      n = up;
      up = GET(n->parent);
    }
    PAINT(up, BLACK);
    PAINT(top, RED);
    rotate(top, !on_left, end, pc);
  }
  PAINT(GET(end->parent), BLACK);
}

// A black node is missing on the way to n, a child of up.
static void balance(struct tree_node *n, struct tree_node *up, struct tree_node *end, uint64_t pc) {
  while (n != GET(end->parent) && black(n, pc)) {
    bool left = GET(up->left) == n;
    struct tree_node *other = GET(SIDE(up, !left));
    if (COLOUR(other) == RED) {
      PAINT(other, BLACK);
      PAINT(up, RED);
      rotate(up, left, end, pc);
      other = GET(SIDE(up, !left));
    }
    if (black(GET(other->left), pc) && black(GET(other->right), pc)) {
      PAINT(other, RED);
      n = up;
      up = GET(up->parent);
      continue;
    }
    if (black(GET(SIDE(other, !left)), pc)) {
      PAINT(GET(SIDE(other, left)), BLACK);
      PAINT(other, RED);
      rotate(other, !left, end, pc);
      other = GET(SIDE(up, !left));
    }
    PAINT(other, COLOUR(up));
    PAINT(up, BLACK);
    struct tree_node *outer = GET(SIDE(other, !left));
    if (outer) PAINT(outer, BLACK);
    rotate(up, left, end, pc);
    break;
  }
  if (n) PAINT(n, BLACK);
}

#define ERASE _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_
struct tree_node *ERASE(struct tree_node *n, struct tree_node *end);
HD_EXPORT struct tree_node *ERASE(struct tree_node *n, struct tree_node *end) {
  uint64_t pc = reporting(HD_RA);
  struct tree_node *left = GET(n->left), *right = GET(n->right), *child, *up;
  int lost = COLOUR(n);
  if (left && right) { // the next node takes its place
    struct tree_node *next = farthest(right, true, pc);
    child = GET(next->right);
    SET(left->parent, next);
    SET(next->left, left);
    if (next == right) {
      up = next;
    } else {
      up = GET(next->parent);
      if (child) SET(child->parent, up);
      SET(up->left, child);
      SET(next->right, right);
      SET(right->parent, next);
    }
    replace(n, next, end, pc);
    int colour = COLOUR(next);
    PAINT(next, lost);
    PAINT(n, colour);
    lost = colour;
  } else {
    child = left ? left : right;
    up = GET(n->parent);
    replace(n, child, end, pc);
    if (GET(end->left) == n) SET(end->left, right ? farthest(right, true, pc) : up);
    if (GET(end->right) == n) SET(end->right, left ? farthest(left, false, pc) : up);
  }
  if (lost == BLACK) balance(child, up, end, pc);
  return n;
}
