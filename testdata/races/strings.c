// heddle: A thread writes a text while another calls the function that argv[1] names, which reads or writes the text, too. With a second argument both take a lock.
// kind: data race
#define _GNU_SOURCE
#include <inttypes.h>
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

static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int order_with(const void *a, const void *b, void *with) {
  (void)with;
  return order(a, b);
}
static FILE *out(void) { return fopen("/dev/null", "w"); }
static FILE *in(void) {
  static char line[] = "5 line\n";
  return fmemopen(line, sizeof line - 1, "r");
}
static char *rest = text, *line;
static size_t room;
static int first_token(void) {
  char own[] = "x text";
  strtok(own, " ");
  return !strtok(text, " ");
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
  CALL(strcoll, strcoll(other, text))
  CALL(memccpy, memccpy(other, text, 'x', 9))
  CALL(mempcpy, mempcpy(text, other, 2))
  CALL(atoi, atoi(text))
  CALL(atol, atol(text))
  CALL(atoll, atoll(text))
  CALL(atof, atof(text))
  CALL(strtol, strtol(text, NULL, 10))
  CALL(strtoul, strtoul(text, NULL, 16))
  CALL(strtoll, strtoll(text, NULL, 0))
  CALL(strtoull, strtoull(text, NULL, 36))
  CALL(strtoimax, strtoimax(text, NULL, 10))
  CALL(strtoumax, strtoumax(text, NULL, 10))
  CALL(strtod, strtod(text, NULL))
  CALL(strtof, strtof(text, NULL))
  CALL(strtold, strtold(text, NULL))
  CALL(end_of_number, strtol("12", (char **)text, 10))
  CALL(sscanf, sscanf(text, "%9s", other))
  CALL(sscanf_number, sscanf("x 5", "%*s %hhd", (signed char *)text))
  CALL(sscanf_text, sscanf("1 one", "%d%n%s", (int *)other, (int *)(other + 8), text))
  CALL(sscanf_set, sscanf("]b", "%[]b]", text))
  CALL(strtok, first_token())
  CALL(strtok_r, strtok_r(NULL, " ", &rest))
  CALL(strsep, strsep(&rest, " "))
  CALL(qsort, (qsort(text, 3, 1, order), 0))
  CALL(qsort_r, (qsort_r(text, 3, 1, order_with, NULL), 0))
  CALL(puts, puts(text))
  CALL(fputs, fputs(text, out()))
  CALL(fwrite, fwrite(text, 1, 1, out()))
  CALL(printf, printf("%d %*s\n", 1, 8, text))
  CALL(fprintf, fprintf(out(), "%.1f %Lf %ld%% %.1s", 1.0, 1.0L, 1L, text))
  CALL(snprintf_text, snprintf(other, 3, "%c%s", 'x', text))
  CALL(fgets, fgets(text, 3, in()))
  CALL(fread, fread(text, 1, 2, in()))
  CALL(fscanf, fscanf(in(), "5%4s", text))
  CALL(getline, (line = text, room = sizeof text, getline(&line, &room, in())))
  // These do not touch the byte that is written.
  CALL(beside, strlen(text + 1))
  CALL(before, strncmp(text + 1, other, 5))
  CALL(empty, snprintf(text, 0, "%d", 5))
  CALL(second_number, strtol(text + 1, NULL, 10))
  CALL(precision, snprintf(other, 9, "%.0s %.*s", text, 0, text))
  CALL(mismatch, sscanf("x", "%d %s", (int *)text, text))
  CALL(one_element, (qsort(text, 1, 1, order), 0))
  CALL(bsearch, bsearch("x", text + 1, 2, 1, order))
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
