// heddle: A client waits for the server with wait_for and a predicate, so it sees that the server is up, whenever the notice came.
// kind: clean
// needs: timeouts
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
  std::mutex lock;
  std::condition_variable changed;
  bool server_up = false;

  std::thread client([&] {
    std::unique_lock<std::mutex> guard(lock);
    bool in_time = changed.wait_for(guard, std::chrono::milliseconds(40), [&] { return server_up; });
    assert(in_time || !server_up);
  });
  std::thread server([&] {
    std::lock_guard<std::mutex> guard(lock);
    server_up = true;
    changed.notify_one();
  });
  client.join();
  server.join();
  return 0;
}
