// heddle: The answer is awaited under the lock that the other thread needs on its way to give it.
// kind: deadlock
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

static std::mutex log_lock;
static int lines;

static void serve(std::promise<int> answer) {
  {
    std::lock_guard<std::mutex> l(log_lock);
    lines++;
  }
  answer.set_value(42);
}

int main() {
  std::promise<int> p;
  std::future<int> f = p.get_future();
  std::thread server(serve, std::move(p));
  int got;
  std::this_thread::sleep_for(std::chrono::milliseconds(1)); // there is something else to do first
  {
    std::lock_guard<std::mutex> l(log_lock);
    lines++;
    got = f.get();
  }
  server.join();
  return got != 42;
}
