// heddle's tests: a list of numbers. The other list.c has the same code on earlier lines.
#include <stdlib.h>

struct node {
  struct node *next;
  long value;
};

//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
static struct node *head;

void fast_push(long value) {
  struct node *n = malloc(sizeof *n);
  n->value = value;
  n->next = head;
  head = n;
}

long fast_length(void) {
  long length = 0;
  for (struct node *n = head; n; n = n->next) length++;
  return length;
}
