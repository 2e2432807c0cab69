cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O1 -g" -DNN_ENABLE_DOC=OFF -DNN_STATIC_LIB=ON -DNN_TOOLS=OFF .
cmake --build build -j2 --target pair pipeline
