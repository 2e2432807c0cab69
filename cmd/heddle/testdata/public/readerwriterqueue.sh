# The tests' counts are made for seconds of running.
cd tests/unittests
sed -i 's/1000000/25/g; s/100000/25/g' unittests.cpp
$CXX -std=c++11 -O1 -g unittests.cpp ../common/simplethread.cpp -o unittests -pthread -lrt
