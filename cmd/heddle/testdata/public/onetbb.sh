cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g" -DTBB_STRICT=OFF -DBUILD_SHARED_LIBS=ON -DTBB_ENABLE_IPO=OFF -DTBBMALLOC_BUILD=OFF -DTBB_TEST=ON .
cmake --build build -j2 --target tbb
cmake --build build --target test_semaphore
