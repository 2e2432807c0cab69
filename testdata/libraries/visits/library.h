// The functions of library.cc.
struct own_functions {
  void (*lock)(), (*unlock)();
};

struct Lock {
  virtual void lock() = 0;
  virtual void unlock() = 0;
};

extern "C" {
void own_lock(), own_unlock();
void own_nothing();
void own_locked(void (*f)());
void own_post(), own_wait();
void own_start(void (*f)());
const own_functions *own_table();
Lock *own_new();
}
