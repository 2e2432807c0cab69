cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g" -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF .
cmake --build build --target leveldb -j2
$CXX -O1 -g -std=c++17 -Iinclude "$HERE/../leveldb_threads.cc" build/libleveldb.a -pthread -o threads
