// heddle: Four threads relax a strip of a grid each, with a barrier after every sweep; about 800,000 plain accesses, none of them racing, and few scheduling points. The measure of access hooks.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define THREADS 4
#define ROWS 64
#define COLUMNS 64
#define SWEEPS 40

static pthread_barrier_t swept;
static int grid[2][ROWS][COLUMNS];

static void *relax(void *arg) {
  int first = *(const int *)arg, last = first + ROWS / THREADS;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    int(*from)[COLUMNS] = grid[sweep % 2], (*to)[COLUMNS] = grid[(sweep + 1) % 2];
    for (int r = first; r < last; r++) {
      for (int c = 0; c < COLUMNS; c++) {
        int edge = r == 0 || r == ROWS - 1 || c == 0 || c == COLUMNS - 1;
        to[r][c] = edge ? from[r][c]
                        : (from[r - 1][c] + from[r + 1][c] + from[r][c - 1] + from[r][c + 1]) / 4;
      }
    }
    pthread_barrier_wait(&swept);
  }
  return NULL;
}

int main(void) {
  static int first_row[THREADS];
  pthread_t threads[THREADS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) grid[0][r][c] = r * 1000;
  pthread_barrier_init(&swept, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    first_row[i] = i * (ROWS / THREADS);
    pthread_create(&threads[i], NULL, relax, &first_row[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&swept);
  assert(grid[SWEEPS % 2][ROWS / 2][COLUMNS / 2] == ROWS / 2 * 1000);
  return 0;
}
