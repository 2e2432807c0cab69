// heddle: C++20 and older C++ synchronisation: what each returns, and that nothing waits forever.
// kind: clean
// flags: -std=c++20
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
#define SAY(...) std::printf("%s: %d\n", #__VA_ARGS__, (int)(__VA_ARGS__))

static void semaphores() {
  std::counting_semaphore<10> s(2);
  std::binary_semaphore b(0);
  SAY(s.try_acquire());
  SAY(s.try_acquire());
  SAY(s.try_acquire());
  SAY(s.try_acquire_for(1ms));
  SAY(s.try_acquire_until(std::chrono::steady_clock::now() + 1ms));
  std::thread t([&] { b.acquire(); s.release(3); });
  b.release();
  for (int i = 0; i < 3; i++) s.acquire();
  t.join();
  SAY(s.try_acquire());
}

static void latches() {
  std::latch l(3);
  SAY(l.try_wait());
  std::atomic<int> n{0};
  std::vector<std::jthread> ts;
  for (int i = 0; i < 3; i++) ts.emplace_back([&] { n++; l.count_down(); });
  l.wait();
  SAY(n);
  SAY(l.try_wait());
  std::latch two(2);
  std::jthread other([&] { two.arrive_and_wait(); });
  two.arrive_and_wait();
}

static void barriers() {
  int rounds = 0, sum = 0;
  std::atomic<int> n{0};
  auto done = [&]() noexcept { rounds++; sum += n.exchange(0); };
  std::barrier b(3, done);
  std::vector<std::jthread> ts;
  for (int i = 0; i < 3; i++)
    ts.emplace_back([&, i] {
      for (int k = 0; k < (i == 2 ? 2 : 4); k++) {
        n++;
        if (i == 2 && k == 1) b.arrive_and_drop();
        else b.arrive_and_wait();
      }
    });
  ts.clear();
  SAY(rounds);
  SAY(sum);
}

static void atomics() {
  std::atomic<int> a{0};
  std::atomic_flag f;
  std::atomic<char> small{0};
  std::jthread t([&] {
    a.wait(0);
    small.wait(0);
    f.test_and_set();
    f.notify_all();
  });
  a = 1;
  a.notify_one();
  small = 1;
  small.notify_all();
  f.wait(false);
  SAY(f.test());
}

static void stops() {
  std::mutex m;
  std::condition_variable_any cv;
  std::atomic<int> called{0};
  bool asked = false;
  {
    std::jthread t([&](std::stop_token token) {
      std::stop_callback first(token, [&] { called++; });
      std::unique_lock lock(m);
      SAY(cv.wait(lock, token, [] { return false; }));
      asked = token.stop_requested();
      SAY(cv.wait_for(lock, token, 1s, [] { return false; }));
    });
  } // asks it to stop, and joins
  SAY(asked);
  SAY(called);
  std::stop_source source;
  SAY(source.stop_possible());
  SAY(source.request_stop());
  SAY(source.request_stop());
  std::stop_callback late(source.get_token(), [&] { called += 10; });
  SAY(called);
  SAY(std::stop_token().stop_possible());
  // A callback goes while it is being called by another thread.
  std::stop_source other;
  std::atomic<bool> in{false}, out{false};
  std::thread asks;
  {
    std::stop_callback slow(other.get_token(), [&] {
      in = true;
      in.notify_all();
      std::this_thread::sleep_for(1ms);
      out = true;
    });
    asks = std::thread([&] { other.request_stop(); });
    in.wait(false);
  } // waits for the callback
  SAY(out);
  asks.join();
}

static void futures() {
  std::promise<int> p;
  auto f = p.get_future();
  SAY(f.wait_for(1ms) == std::future_status::timeout);
  std::thread t([&] { p.set_value(4); });
  SAY(f.get());
  t.join();
  SAY(f.valid());
  SAY(std::async(std::launch::async, [] { return 5; }).get());
  auto lazy = std::async(std::launch::deferred, [] { return 6; });
  SAY(lazy.wait_for(0s) == std::future_status::deferred);
  SAY(lazy.get());
  std::packaged_task<int(int)> task([](int x) { return x * 2; });
  auto result = task.get_future().share();
  std::thread worker(std::move(task), 21);
  auto copy = result;
  SAY(copy.get());
  SAY(result.get());
  worker.join();
  std::future<int> broken;
  {
    std::promise<int> forgotten;
    broken = forgotten.get_future();
  }
  try {
    broken.get();
  } catch (std::future_error &e) { SAY(e.code() == std::future_errc::broken_promise); }
  try {
    std::async(std::launch::async, []() -> int { throw 7; }).get();
  } catch (int i) { SAY(i); }
  std::promise<int> at_exit;
  auto g = at_exit.get_future();
  std::thread e([&] { at_exit.set_value_at_thread_exit(8); });
  SAY(g.get());
  e.join();
}

static void mutexes() {
  std::shared_mutex s;
  std::shared_timed_mutex st;
  std::timed_mutex tm;
  std::recursive_timed_mutex rt;
  auto elsewhere = [](auto fn) { std::thread(fn).join(); };
  s.lock_shared();
  elsewhere([&] { SAY(s.try_lock()); SAY(s.try_lock_shared()); s.unlock_shared(); });
  s.unlock_shared();
  st.lock();
  elsewhere([&] { SAY(st.try_lock_for(1ms)); SAY(st.try_lock_shared_for(1ms)); SAY(st.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms)); });
  st.unlock();
  SAY(st.try_lock_shared_for(1s));
  elsewhere([&] { SAY(st.try_lock_until(std::chrono::system_clock::now() + 1ms)); SAY(st.try_lock_shared()); st.unlock_shared(); });
  st.unlock_shared();
  tm.lock();
  elsewhere([&] { SAY(tm.try_lock_for(1ms)); SAY(tm.try_lock()); });
  tm.unlock();
  SAY(rt.try_lock_for(1ms));
  SAY(rt.try_lock_until(std::chrono::system_clock::now() + 1s));
  elsewhere([&] { SAY(rt.try_lock_for(1ms)); });
  rt.unlock();
  rt.unlock();
  std::mutex a, b;
  std::condition_variable cv;
  { std::scoped_lock both(a, b); SAY(true); }
  std::unique_lock lock(a);
  SAY(cv.wait_for(lock, 1ms) == std::cv_status::timeout);
  SAY(cv.wait_until(lock, std::chrono::system_clock::now() + 1ms, [] { return false; }));
  bool ready = false;
  std::thread t([&] {
    std::unique_lock l(a);
    ready = true;
    std::notify_all_at_thread_exit(cv, std::move(l));
  });
  cv.wait(lock, [&] { return ready; });
  lock.unlock();
  t.join();
}

struct Local {
  int n = 0;
  ~Local() { std::printf("~Local %d\n", n); }
};
static thread_local Local local;
static std::once_flag flag;

int main() {
  semaphores();
  latches();
  barriers();
  atomics();
  stops();
  futures();
  mutexes();
  for (int i = 1; i < 3; i++)
    std::thread([i] {
      local.n = i;
      std::call_once(flag, [] { std::puts("once"); });
    }).join();
  std::atexit([] { std::puts("at exit"); });
  return 0;
}
