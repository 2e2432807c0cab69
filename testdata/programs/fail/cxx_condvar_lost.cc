// heddle: A client waits for the server with wait_for and no predicate; a notice that came earlier is lost and the wait runs out though the server is up.
// kind: assertion
// finding: in_time || !server_up
// minimum: switches=2 preemptions=0
// why: The client fails after the server has run, and both run after main has started them. The
//   server can end before the client begins, and main waits in its join. The wait runs out when
//   no other thread can run, so no early time-out is needed, and none makes it shorter.
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
    bool in_time = changed.wait_for(guard, std::chrono::milliseconds(40)) == std::cv_status::no_timeout;
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
