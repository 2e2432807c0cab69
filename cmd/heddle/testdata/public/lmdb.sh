cd libraries/liblmdb
make liblmdb.a CC="$CC" CFLAGS="-O1 -g -pthread -I."
$CC -O1 -g -I. "$HERE/lmdb_threads.c" liblmdb.a -o lmdb_threads -pthread
