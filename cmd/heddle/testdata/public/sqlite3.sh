# The test's rows are work for minutes.
sed -i 's/i\*100+1, (i+1)\*100/i*2+1, (i+1)*2/; s/i<4; i++/i<2; i++/; s/!=400/!=4/' test/threadtest4.c
mkdir build
cd build
../configure --disable-tcl --disable-readline CC="$CC"
make sqlite3.c BCC=cc
$CC -O1 -g -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -I. ../test/threadtest4.c sqlite3.c -o threadtest4 -pthread -lm
