// heddle: A tracing library in the shape of ctrace, and threads that compute and log: a buffer that is full is written to the log, with the log's lock and the registry's.
// kind: clean
#include "../event_tracer.c"
