// heddle: Online clustering in the shape of PARSEC's streamcluster: three workers try one point after the other as a centre, with a hand-made barrier in each pass.
// kind: clean
#include "../online_clustering.cc"
