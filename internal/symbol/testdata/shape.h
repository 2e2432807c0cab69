#pragma once
// A class whose key function is in another unit: clang describes it only there.
struct Shape {
  virtual int area();
  long edge;
  int sides;
};
