// heddle: A worker runs a job of a plug-in, and main unloads the plug-in when the job has begun, taking that for its end.
// kind: signal
// finding: which was unloaded
// minimum: switches=3 preemptions=1
// why: main waits until the job has begun, so the worker runs up to its post, main continues and unloads,
//   and the worker continues: four intervals. The worker is preempted before an enabled operation;
//   if it had done all of them it would be out of the plug-in.
// plug-in: plugin_unload_in_use.so
#include <pthread.h>
#include <semaphore.h>

struct job {
  sem_t begun;
  pthread_mutex_t mutex;
  int total;
};

#ifdef PLUGIN
void run_job(struct job *j) {
  sem_post(&j->begun);
  for (int i = 1; i <= 2; i++) {
    pthread_mutex_lock(&j->mutex);
    j->total += i;
    pthread_mutex_unlock(&j->mutex);
  }
}
#else
#include <assert.h>
#include <dlfcn.h>

static struct job job = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static void (*run_job)(struct job *);

static void *worker(void *arg) {
  (void)arg;
  run_job(&job);
  return NULL;
}

int main(void) {
  sem_init(&job.begun, 0, 0);
  void *plugin = dlopen("./plugin_unload_in_use.so", RTLD_NOW);
  assert(plugin);
  run_job = (void (*)(struct job *))dlsym(plugin, "run_job");
  pthread_t t;
  pthread_create(&t, NULL, worker, NULL);
  sem_wait(&job.begun);
  dlclose(plugin);
  pthread_join(t, NULL);
  assert(job.total == 3);
  return 0;
}
#endif
// cause: : dlclose(plugin)
