# The tests' counts are made for hours.
sed -i 's/#define ITEMS (5765760)/#define ITEMS 4/' regressions/ck_stack/validate/pair.c
sed -i 's/#define ITERATE 1000000/#define ITERATE 4/' regressions/ck_spinlock/validate/validate.h regressions/ck_rwlock/validate/validate.c
sed -i 's/#define PAIRS 5000000/#define PAIRS 4/' regressions/ck_hp/validate/ck_hp_stack.c
sed -i 's/#define ITERATIONS 128/#define ITERATIONS 3/' regressions/ck_ring/validate/ck_ring_mpmc.c regressions/ck_fifo/validate/ck_fifo_mpmc.c
./configure
make -C src libck.a CC="$CC"
for test in ck_fifo/ck_fifo_mpmc ck_ring/ck_ring_mpmc ck_stack/mpmc_pair ck_spinlock/ck_mcs ck_hp/ck_hp_stack ck_rwlock/validate
do
  make -C "regressions/$(dirname $test)/validate" "$(basename $test)" CC="$CC"
done
