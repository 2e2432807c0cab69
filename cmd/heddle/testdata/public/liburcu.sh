./configure --disable-shared CC="$CC" CFLAGS="-O1 -g"
make -C src -j2
make -C tests/common
make -C tests/benchmark test_urcu_mb
