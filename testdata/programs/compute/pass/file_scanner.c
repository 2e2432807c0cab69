// heddle: A file scanner in the shape of pfscan: main queues files, two workers search them for a word, main waits until no worker is active.
// kind: clean
#include "../file_scanner.c"
