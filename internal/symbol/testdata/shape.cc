#include "shape.h"

extern "C" void mark(const char *chain);

int Shape::area() {
  mark("Shape::area");
  return sides;
}
