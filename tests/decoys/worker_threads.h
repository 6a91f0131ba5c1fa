#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dlbench::decoys {

/// A fixed number of threads that do one piece of work together; waiting threads sleep. The caller
/// is one of them, so one thread starts none.
class WorkerThreads {
 public:
  explicit WorkerThreads(int count);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();

  int count() const { return count_; }
  /// Calls work(0) ... work(count - 1), one on each thread, and returns when all have returned.
  void Run(const std::function<void(int)>& work);

 private:
  void Loop(int index);

  int count_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int)>* work_ = nullptr;
  long round_ = 0;
  int running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dlbench::decoys
