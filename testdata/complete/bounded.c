// Ends always: main reads a number 20,000 times, whatever it is, while another thread writes it. This is not a hang.
#include <pthread.h>
#include <stdatomic.h>

static atomic_long value = 1;

static void *set(void *arg) {
	for (int i = 0; i < 100; i++)
		value = i % 2 + 1;
	return arg;
}

int main(void) {
	pthread_t t;
	long sum = 0;
	pthread_create(&t, NULL, set, NULL);
	for (int i = 0; i < 20000; i++)
		sum += value;
	pthread_join(t, NULL);
	return sum < 20000;
}
