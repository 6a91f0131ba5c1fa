#include "worker_threads.h"

namespace dlbench::decoys {

WorkerThreads::WorkerThreads(int count) : count_(count) {
  for (int index = 1; index < count; ++index) threads_.emplace_back([this, index] { Loop(index); });
}

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::Run(const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    running_ = count_ - 1;
    ++round_;
  }
  start_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void WorkerThreads::Loop(int index) {
  long seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    const std::function<void(int)>& work = *work_;
    lock.unlock();
    work(index);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace dlbench::decoys
