// Two behaviours, after main has closed all descriptors as daemons do: two workers increment a counter under a lock.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *work(void *arg) {
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void) {
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return counter != 2;
}
