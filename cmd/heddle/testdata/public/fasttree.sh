$CC -O1 -g -DOPENMP -fopenmp fasttree.c -o fasttree -lm
printf '>a\nACGTACGTAC\n>b\nACGTTCGTAC\n>c\nAGGTACGAAC\n>d\nAGGAACGAAT\n' >four.fa
