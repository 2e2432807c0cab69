cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g" .
cmake --build build -j2 --target uv_run_tests_a
