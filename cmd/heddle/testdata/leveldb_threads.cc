// Uses LevelDB's library as a program with threads would: two threads write to one database,
// with a snapshot and an iterator beside them, while the library's own thread writes tables
// and compacts. What must hold is what LevelDB promises: a batch is seen whole or not at all,
// a key has the last value that its one writer gave it, and all of it is still there after
// the database was closed and opened again.
#include <cassert>
#include <memory>
#include <string>
#include <thread>

#include "leveldb/db.h"
#include "leveldb/write_batch.h"

using leveldb::DB;

static const int kRounds = 3;

static void ok(const leveldb::Status& s) { assert(s.ok()); }

static std::string key(int thread, int i) { return std::to_string(thread) + "-" + std::to_string(i); }

static void writer(DB* db, int me) {
  for (int i = 0; i < kRounds; i++) {
    leveldb::WriteBatch batch; // both of a pair always have the same value
    batch.Put("left" + std::to_string(me), std::to_string(i));
    batch.Put("right" + std::to_string(me), std::to_string(i));
    batch.Put(key(me, i), std::string(100, 'a' + i));
    ok(db->Write(leveldb::WriteOptions(), &batch));
  }
  ok(db->Delete(leveldb::WriteOptions(), key(me, 0)));
}

static void look(DB* db, bool all) {
  leveldb::ReadOptions at;
  at.snapshot = db->GetSnapshot();
  for (int t = 0; t < 2; t++) {
    std::string left, right;
    leveldb::Status a = db->Get(at, "left" + std::to_string(t), &left);
    leveldb::Status b = db->Get(at, "right" + std::to_string(t), &right);
    assert(a.ok() == b.ok() && left == right);
    assert(!all || left == std::to_string(kRounds - 1));
  }
  int n = 0;
  std::unique_ptr<leveldb::Iterator> it(db->NewIterator(at));
  for (it->SeekToFirst(); it->Valid(); it->Next()) n++;
  ok(it->status());
  assert(!all || n == 2 * (2 + kRounds - 1));
  it.reset();
  db->ReleaseSnapshot(at.snapshot);
}

static DB* open(const char* path) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.compression = leveldb::kNoCompression;
  DB* db = nullptr;
  ok(DB::Open(options, path, &db));
  return db;
}

int main(int argc, char** argv) {
  assert(argc == 2);
  DB* db = open(argv[1]);
  std::thread a(writer, db, 0), b(writer, db, 1);
  std::thread c([db] { db->CompactRange(nullptr, nullptr); }); // on the library's thread
  look(db, false);
  a.join();
  b.join();
  c.join();
  look(db, true);
  delete db;
  db = open(argv[1]);
  look(db, true);
  delete db;
}
