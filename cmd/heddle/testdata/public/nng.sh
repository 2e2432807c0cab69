cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g" -DNNG_TESTS=ON -DNNG_TOOLS=OFF .
cmake --build build -j2 --target nng_testing
cmake --build build --target aio_test
