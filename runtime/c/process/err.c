// err.c: libc's functions that print a message and exit. They call exit inside libc, past the
// interposed function, so the runtime would neither record the exit nor learn its status.
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <stdlib.h>
#include "core/libc.h"
#include "threads/threads.h"

HD_EXPORT void verr(int status, const char *fmt, va_list ap) {
  REAL(vwarn)(fmt, ap);
  hd_exit(status, HD_RA);
}
HD_EXPORT void verrx(int status, const char *fmt, va_list ap) {
  REAL(vwarnx)(fmt, ap);
  hd_exit(status, HD_RA);
}
HD_EXPORT void err(int status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  REAL(vwarn)(fmt, ap);
  hd_exit(status, HD_RA);
}
HD_EXPORT void errx(int status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  REAL(vwarnx)(fmt, ap);
  hd_exit(status, HD_RA);
}

// Makes libc print the message; status 0 means that error returns.
static void complain(int errnum, const char *file, unsigned line, const char *fmt, va_list ap) {
  char *text = NULL;
  if (REAL(vasprintf)(&text, fmt, ap) < 0) text = NULL;
  if (file) REAL(error_at_line)(0, errnum, file, line, "%s", text ? text : fmt);
  else REAL(error)(0, errnum, "%s", text ? text : fmt);
  free(text);
}
HD_EXPORT void error(int status, int errnum, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  complain(errnum, NULL, 0, fmt, ap);
  va_end(ap);
  if (status) hd_exit(status, HD_RA);
}
HD_EXPORT void error_at_line(int status, int errnum, const char *file, unsigned line, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  complain(errnum, file ? file : "", line, fmt, ap);
  va_end(ap);
  if (status) hd_exit(status, HD_RA);
}
