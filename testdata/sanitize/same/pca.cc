// heddle: the covariance matrix of principal component analysis as map-reduce: each thread computes
//   rows of its own, in a std::vector that it allocates; main finds the first component.
// kind: clean
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

constexpr int samples = 8, features = 4, workers = 2;
using matrix = std::vector<std::vector<double>>;

static void covariances(const matrix &data, const std::vector<double> &mean, int from, int to, std::unique_ptr<matrix> &result) {
  auto rows = std::make_unique<matrix>();
  for (int i = from; i < to; i++) {
    std::vector<double> row;
    for (int j = 0; j < features; j++) {
      double sum = 0;
      for (int k = 0; k < samples; k++) sum += (data[k][i] - mean[i]) * (data[k][j] - mean[j]);
      row.push_back(sum / (samples - 1));
    }
    rows->push_back(row);
  }
  result = std::move(rows);
}

int main() {
  matrix data;
  for (int k = 0; k < samples; k++) {
    std::vector<double> row;
    for (int i = 0; i < features; i++) row.push_back((k * (i + 3) + i * i) % 17);
    data.push_back(row);
  }
  std::vector<double> mean(features);
  for (int i = 0; i < features; i++)
    for (int k = 0; k < samples; k++) mean[i] += data[k][i] / samples;
  std::vector<std::unique_ptr<matrix>> parts(workers);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; w++)
    threads.emplace_back(covariances, std::cref(data), std::cref(mean), w * features / workers, (w + 1) * features / workers, std::ref(parts[w]));
  for (auto &t : threads) t.join();
  std::vector<double> v(features, 1);
  for (int round = 0; round < 5; round++) {
    std::vector<double> next;
    for (auto &part : parts)
      for (auto &row : *part) {
        double sum = 0;
        for (int j = 0; j < features; j++) sum += row[j] * v[j];
        next.push_back(sum);
      }
    double length = 0;
    for (double x : next) length += x * x;
    for (int i = 0; i < features; i++) v[i] = next[i] / std::sqrt(length);
  }
  for (double x : v) std::printf("%.4f\n", x);
}
