make -C tests poolTests CC="$CC" CFLAGS="-O1 -g"
