// heddle: A thread writes a text while another calls the function that argv[1] names, which reads or writes the text, too. With a second argument both take a lock.
// kind: data race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char text[64] = "a text", other[64] = "a text";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked;
static volatile size_t sink;

static void *write_text(void *arg) {
  if (locked) pthread_mutex_lock(&lock);
  text[0] = 'A';
  if (locked) pthread_mutex_unlock(&lock);
  return arg;
}

static int print(int bounded, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = bounded ? vsnprintf(text, sizeof text, format, list) : vsprintf(text, format, list);
  va_end(list);
  return n;
}

#define CALL(name, call) if (!strcmp(function, #name)) { sink = (size_t)(call); return; }
static void use(const char *function) {
  CALL(strlen, strlen(text))
  CALL(strnlen, strnlen(text, 5))
  CALL(strcmp, strcmp(other, text))
  CALL(strncmp, strncmp(other, text, 3))
  CALL(strcasecmp, strcasecmp(text, other))
  CALL(strncasecmp, strncasecmp(text, other, 3))
  CALL(memcmp, memcmp(text, other, 3))
  CALL(bcmp, bcmp(text, other, 3))
  CALL(strchr, strchr(text, 'x'))
  CALL(strchrnul, strchrnul(text, 'x'))
  CALL(strrchr, strrchr(text, 'x'))
  CALL(index, index(text, 'x'))
  CALL(rindex, rindex(text, 'x'))
  CALL(memchr, memchr(text, 'x', 5))
  CALL(memrchr, memrchr(text, 'x', 5))
  CALL(rawmemchr, rawmemchr(text, 'x'))
  CALL(strstr, strstr(text, "ex"))
  CALL(strcasestr, strcasestr(text, "EX"))
  CALL(memmem, memmem(text, 6, "ex", 2))
  CALL(strspn, strspn(text, "a "))
  CALL(strcspn, strcspn(text, "x"))
  CALL(strpbrk, strpbrk(text, "x"))
  CALL(strcpy, strcpy(other, text))
  CALL(stpcpy, stpcpy(text, other))
  CALL(strncpy, strncpy(text, other, 4))
  CALL(stpncpy, stpncpy(other, text, 4))
  CALL(strcat, strcat(text, other))
  CALL(strncat, strncat(other, text, 4))
  CALL(strdup, strdup(text))
  CALL(strndup, strndup(text, 4))
  CALL(snprintf, snprintf(text, sizeof text, "%d", 5))
  CALL(sprintf, sprintf(text, "%s", other))
  CALL(vsnprintf, print(1, "%d", 5))
  CALL(vsprintf, print(0, "%d", 5))
  // These do not touch the byte that is written.
  CALL(beside, strlen(text + 1))
  CALL(before, strncmp(text + 1, other, 5))
  CALL(empty, snprintf(text, 0, "%d", 5))
  abort();
}

int main(int argc, char **argv) {
  pthread_t t;
  locked = argc > 2;
  pthread_create(&t, NULL, write_text, NULL);
  if (locked) pthread_mutex_lock(&lock);
  use(argv[1]);
  if (locked) pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return 0;
}
