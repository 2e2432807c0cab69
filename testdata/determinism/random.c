// Two workers store random numbers, which they draw from the one sequence of libc: which of them gets which depends on the
// schedule, although no accesses of theirs depend on each other. The condition fails, by values alone; with -DBRANCH by
// events, too. The correct twin (-DCORRECT) has a sequence for each worker.
#include <pthread.h>
#include <stdlib.h>

static volatile int drawn[2];

static void *work(void *arg) {
	int me = *(int *)arg;
#ifdef CORRECT
	unsigned seed = me + 1;
	drawn[me] = rand_r(&seed);
#elif defined BRANCH
	if (rand() % 2)
		drawn[me] = 1;
#else
	drawn[me] = rand();
#endif
	return NULL;
}

int main(void) {
	pthread_t t[2];
	int me[2] = {0, 1};
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &me[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
