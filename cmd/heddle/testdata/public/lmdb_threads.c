// Two threads write to one database while a third reads it, each in transactions of its own. A reader sees both of two
// entries that are always written together, or neither.
#include <assert.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static MDB_env *env;
static MDB_dbi db;

static void put(MDB_txn *txn, const char *key, int value) {
  MDB_val k = {strlen(key), (void *)key}, v = {sizeof value, &value};
  assert(mdb_put(txn, db, &k, &v, 0) == 0);
}

static int get(MDB_txn *txn, const char *key) {
  MDB_val k = {strlen(key), (void *)key}, v;
  if (mdb_get(txn, db, &k, &v)) return 0;
  int value;
  memcpy(&value, v.mv_data, sizeof value);
  return value;
}

static void *writer(void *arg) {
  for (int i = 0; i < 2; i++) {
    MDB_txn *txn;
    assert(mdb_txn_begin(env, NULL, 0, &txn) == 0);
    int n = get(txn, "a") + 1;
    put(txn, "a", n);
    put(txn, "b", n);
    assert(mdb_txn_commit(txn) == 0);
  }
  return arg;
}

static void *reader(void *arg) {
  for (int i = 0; i < 2; i++) {
    MDB_txn *txn;
    assert(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0);
    assert(get(txn, "a") == get(txn, "b"));
    mdb_txn_abort(txn);
  }
  return arg;
}

int main(int argc, char **argv) {
  pthread_t threads[3];
  MDB_txn *txn;
  assert(argc == 2);
  assert(mdb_env_create(&env) == 0);
  assert(mdb_env_set_mapsize(env, 1 << 16) == 0);
  assert(mdb_env_open(env, argv[1], MDB_NOSUBDIR | MDB_NOSYNC, 0600) == 0);
  assert(mdb_txn_begin(env, NULL, 0, &txn) == 0);
  assert(mdb_dbi_open(txn, NULL, 0, &db) == 0);
  put(txn, "a", 0);
  put(txn, "b", 0);
  assert(mdb_txn_commit(txn) == 0);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i == 2 ? reader : writer, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0);
  assert(get(txn, "a") == 4);
  mdb_txn_abort(txn);
  mdb_env_close(env);
}
