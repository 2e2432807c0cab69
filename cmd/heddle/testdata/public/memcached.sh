# The clients are threads of the server (../memcached_client.c), so that both ends of the connections are under control.
libs="-L$PACKAGES/usr/lib/x86_64-linux-gnu -Wl,-rpath,$PACKAGES/usr/lib/x86_64-linux-gnu"
./configure CFLAGS="-O1 -g -I$PACKAGES/usr/include" LDFLAGS="$libs" --disable-docs --disable-coverage --disable-extstore
$CC -O1 -g -c "$HERE/../memcached_client.c" -o client.o
make memcached LIBS="client.o -Wl,--wrap=main -levent" -j2
