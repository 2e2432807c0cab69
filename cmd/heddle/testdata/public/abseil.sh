# The library and its own tests; GoogleTest is Debian's.
$CXX -std=c++14 -O1 -g -I. -I"$PACKAGES/usr/include" -c $(find absl/base absl/debugging absl/numeric absl/strings absl/synchronization absl/time absl/types absl/profiling absl/memory -name '*.cc' ! -name '*test*' ! -name '*benchmark*' ! -name '*mock*' ! -name 'gaussian*' ! -name '*_testing*' ! -name 'print_hash*')
ar rcs libabsl.a *.o
for test in barrier notification
do
  $CXX -std=c++14 -O1 -g -I. -I"$PACKAGES/usr/include" absl/synchronization/${test}_test.cc libabsl.a \
    "$PACKAGES/usr/lib/x86_64-linux-gnu/libgtest_main.a" "$PACKAGES/usr/lib/x86_64-linux-gnu/libgtest.a" -o ${test}_test -pthread
done
