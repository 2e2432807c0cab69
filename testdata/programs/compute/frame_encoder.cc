#include "compute.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace {

// A picture has kRows rows of blocks of kBlock x kBlock pixels. It moves upwards by kMotion pixels
// a frame, so that a block is best predicted from the row of blocks below it in the frame before.
constexpr int kFrames = 3, kRows = 6, kBlock = 4, kMotion = 3, kHeight = kRows * kBlock;
constexpr int kAccessesPerBlock = 500;

struct Frame {
  std::vector<unsigned char> source, coded; // kHeight x width; coded is what a decoder would see
  std::mutex mutex;
  std::condition_variable advanced;
  int rows_coded = 0;
};

void Shoot(Frame &f, int number, size_t width) {
  f.source.resize(kHeight * width);
  f.coded.resize(kHeight * width);
  for (size_t y = 0; y < kHeight; y++) {
    unsigned random = unsigned(y) + unsigned(number) * kMotion + 1;
    for (size_t x = 0; x < width; x++) f.source[y * width + x] = (unsigned char)(next_random(&random) % 256);
  }
}

// Difference is the sum of absolute differences of a block and the one `dy` pixels further down
// in the reference.
int Difference(const Frame &f, const Frame &reference, size_t width, size_t y, size_t x, size_t dy) {
  int sum = 0;
  for (size_t j = y; j < y + kBlock; j++) {
    for (size_t i = x; i < x + kBlock; i++) sum += std::abs(f.source[j * width + i] - reference.coded[(j + dy) * width + i]);
  }
  return sum;
}

// Encode codes a block as its difference from the best block of the reference, quantised.
void Encode(Frame &f, const Frame *reference, size_t width, size_t y, size_t x) {
  size_t best = 0;
  if (reference) {
    int least = Difference(f, *reference, width, y, x, 0);
    for (size_t dy = 1; dy <= kBlock && y + dy + kBlock <= kHeight; dy++) {
      int d = Difference(f, *reference, width, y, x, dy);
      if (d < least) least = d, best = dy;
    }
  }
  for (size_t j = y; j < y + kBlock; j++) {
    for (size_t i = x; i < x + kBlock; i++) {
      int predicted = reference ? reference->coded[(j + best) * width + i] : 128;
      int residual = (f.source[j * width + i] - predicted) / 8 * 8;
      f.coded[j * width + i] = (unsigned char)(predicted + residual);
    }
  }
}

void EncodeRow(Frame &f, const Frame *reference, size_t width, int row) {
  for (size_t x = 0; x + kBlock <= width; x += kBlock) Encode(f, reference, width, size_t(row) * kBlock, x);
}

// EncodeFrame codes a frame while another thread codes its reference, and stays behind it.
void EncodeFrame(Frame &f, Frame *reference, size_t width) {
  for (int row = 0; row < kRows; row++) {
    if (reference) {
#ifdef SEEDED
      int needed = row + 1;
#else
      int needed = std::min(row + 2, kRows); // motion reaches into the row below
#endif
      std::unique_lock<std::mutex> lock(reference->mutex);
      while (reference->rows_coded < needed) reference->advanced.wait(lock);
    }
    EncodeRow(f, reference, width, row);
    std::lock_guard<std::mutex> lock(f.mutex);
    f.rows_coded = row + 1;
    f.advanced.notify_all();
  }
}

}  // namespace

int main(int argc, char **argv) {
  size_t width = kBlock * work(argc, argv, size_t(kFrames) * kRows * kAccessesPerBlock);
  std::vector<Frame> frames(kFrames), again(kFrames);
  for (int f = 0; f < kFrames; f++) Shoot(frames[size_t(f)], f, width), Shoot(again[size_t(f)], f, width);
  std::vector<std::thread> threads;
  for (size_t f = 0; f < kFrames; f++) threads.emplace_back([&frames, f, width] { EncodeFrame(frames[f], f > 0 ? &frames[f - 1] : nullptr, width); });
  for (std::thread &t : threads) t.join();
  for (size_t f = 0; f < kFrames; f++) {
    for (int row = 0; row < kRows; row++) EncodeRow(again[f], f > 0 ? &again[f - 1] : nullptr, width, row);
    assert(frames[f].coded == again[f].coded);
  }
}
