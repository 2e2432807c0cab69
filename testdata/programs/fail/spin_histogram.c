// heddle: A histogram counts in its bucket under a spin lock and in its total after it, so a report can find more samples in the buckets than in the total.
// kind: assertion
// finding: in_buckets == total
// minimum: switches=2 preemptions=1
// why: The report comes after a sampler has counted in a bucket and before it counts in the total:
//   sampler, report, with main before them. The sampler is left before a plain access, where it
//   is enabled.
#include <assert.h>
#include <pthread.h>

#define BUCKETS 4

static struct {
  pthread_spinlock_t lock;
  unsigned bucket[BUCKETS];
  unsigned total;
} histogram;

static void *sampler(void *arg) {
  unsigned value = *(const unsigned *)arg;
  pthread_spin_lock(&histogram.lock);
  histogram.bucket[value % BUCKETS]++;
  pthread_spin_unlock(&histogram.lock);
  histogram.total++;
  return NULL;
}

static void *report(void *arg) {
  unsigned in_buckets = 0;
  (void)arg;
  pthread_spin_lock(&histogram.lock);
  for (int i = 0; i < BUCKETS; i++) in_buckets += histogram.bucket[i];
  unsigned total = histogram.total;
  pthread_spin_unlock(&histogram.lock);
  assert(in_buckets == total);
  return NULL;
}

int main(void) {
  static const unsigned sample = 13;
  pthread_t s, r;
  pthread_spin_init(&histogram.lock, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&s, NULL, sampler, (void *)&sample);
  pthread_create(&r, NULL, report, NULL);
  pthread_join(s, NULL);
  pthread_join(r, NULL);
  pthread_spin_destroy(&histogram.lock);
  return 0;
}
// cause: histogram.total: histogram.total++ | total = histogram.total
