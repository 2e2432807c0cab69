// With -DINSTRUCTION=rdrand or rdseed the program contains code that differs from execution to execution, if it
// is called with arguments. Otherwise it only contains the bytes of such instructions.
#include <pthread.h>

static void *start(void *p) { return p; }

int main(int argc, char **argv) {
  (void)argv;
  pthread_t a;
  volatile unsigned looks_alike = 0x310ff0c7u;
  pthread_create(&a, NULL, start, NULL);
#ifdef INSTRUCTION
#define TEXT(x) #x
#define CODE(x) TEXT(x) " %%eax"
  if (argc > 1) __asm__ volatile(CODE(INSTRUCTION) ::: "rax", "rdx", "cc");
#endif
  pthread_join(a, NULL);
  return looks_alike == 0;
}
