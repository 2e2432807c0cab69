cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g" -DCMAKE_C_FLAGS="-O1 -g" -DBUILD_SHARED=OFF -DBUILD_STATIC=ON \
  -DENABLE_CURVE=OFF -DWITH_PERF_TOOL=OFF -DENABLE_CPACK=OFF -DWITH_DOCS=OFF -DENABLE_WS=OFF .
cmake --build build -j2 --target libzmq-static
cmake --build build --target test_pair_inproc test_reqrep_inproc test_ctx_destroy
