$CC -O1 -g -std=gnu11 -Iinclude test/test-stress.c src/static.c -o test-stress -pthread
