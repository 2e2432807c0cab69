cd tests
$CXX -O1 -g -w -std=c++17 -DSPDLOG_FMT_EXTERNAL -DFMT_HEADER_ONLY -I../include -I"$PACKAGES/usr/include" \
  main.cpp utils.cpp test_mpmc_q.cpp test_async.cpp -pthread -o spdlog_tests
