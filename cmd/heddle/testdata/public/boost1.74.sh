# The queues' own stress tests, with fewer threads and nodes.
cd libs/lockfree/test
sed -i 's/node_count = *5000;/node_count = 3;/; s/buckets = 1<<13/buckets = 1<<4/' test_common.hpp
sed -i 's/tester_type(4, 4)/tester_type(2, 2)/; s/queue<long> q(128)/queue<long> q(4)/; s/stack<long> q(128)/stack<long> q(4)/' queue_bounded_stress_test.cpp stack_bounded_stress_test.cpp
flags="-O1 -g -w -I../include -DBOOST_LOCKFREE_INCLUDE_TESTS -DBOOST_THREAD_BUILD_LIB -I$PACKAGES/usr/include"
for f in thread once; do $CXX $flags -c ../../thread/src/pthread/$f.cpp -o $f.o; done
for t in queue stack; do $CXX $flags ${t}_bounded_stress_test.cpp thread.o once.o -pthread -o $t; done
