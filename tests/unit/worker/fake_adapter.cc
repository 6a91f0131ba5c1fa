// An adapter that does as it is told, byte for byte: fake_adapter TYPE:ACTION[:ARGUMENT] ...
// Actions of a request's type are taken in order when it comes; unless one of them answers or does
// not return, the honest answer follows. Nothing here trains anything.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int g_in = 3;
int g_out = 4;

std::int64_t Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) ::_exit(9);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// The next line from the requests; exits with 0 at end of file, as the protocol wants.
std::string ReadLine() {
  static std::string held;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = held.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = held.substr(0, end);
      held.erase(0, end + 1);
      return line;
    }
    searched = held.size();
    char buffer[65536];
    const ssize_t got = ::read(g_in, buffer, sizeof buffer);
    if (got <= 0) ::_exit(0);
    held.append(buffer, static_cast<std::size_t>(got));
  }
}

/// The text after `"key":` up to the next comma or brace.
std::string Field(const std::string& line, const std::string& key) {
  const std::size_t at = line.find("\"" + key + "\":");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 3;
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

std::string Unquoted(const std::string& text) {
  return text.size() < 2 ? text : text.substr(1, text.size() - 2);
}

std::string Touch(const std::string& name) {
  std::ofstream(name) << "tensors";
  return "\"" + name + "\"";
}

std::string HonestVerify(const std::string& line) {
  const std::string list = line.substr(line.find("\"batches\":[") + 11);
  std::string losses = "2.5";
  for (const char c : list.substr(0, list.find(']'))) losses += c == ',' ? ",2.5" : "";
  return "\"losses\":[" + losses + "],\"logits\":" + Touch("logits") +
         ",\"gradients\":" + Touch("gradients") + ",\"weights\":{\"1\":" + Touch("weights-1") + "}";
}

/// `first_begin`: when the first step began, with everything that was ordered done inside it.
std::string HonestRun(const std::string& line, std::int64_t first_begin) {
  const long steps = std::atol(Field(line, "steps").c_str());
  std::string counts, begins, ends, losses;
  for (long i = 0; i < steps; ++i) {
    const char* separator = i == 0 ? "" : ",";
    const std::int64_t begin = i == 0 ? first_begin : Now();
    std::int64_t end = Now();
    while (end < begin + 1000) end = Now();
    counts += separator + std::string("1");
    begins += separator + std::to_string(begin);
    ends += separator + std::to_string(end);
    losses += separator + std::string("2.5");
  }
  return "\"steps\":[" + counts + "],\"begin_ns\":[" + begins + "],\"end_ns\":[" + ends +
         "],\"losses\":[" + losses + "]";
}

/// The honest answer's type and fields.
std::pair<std::string, std::string> Honest(const std::string& type, const std::string& line,
                                           std::int64_t begin) {
  if (type == "hello") {
    return {"hello",
            R"("protocol":1,"framework":"fake","framework_version":"1.0","adapter_version":"1",)"
            R"("language":"c++","mode_label":{"default":"eager"},"build":{"blas":"none"},)"
            R"("devices":["cpu"],"precisions":["float32"],"modes":["train"],"inputs":["resident"],)"
            R"("presets":["default"],"ops":["dense"],"asynchronous":false,"gradients":"step",)"
            R"("learning_rate":"input","settings":{},"unknown":[1,2])"};
  }
  if (type == "prepare") {
    return {"prepared", "\"batch\":" + Field(line, "batch") + ",\"precision\":\"float32\"," +
                            "\"threads\":" + Field(line, "threads") +
                            ",\"effective_settings\":{\"a\":\"b\"}"};
  }
  if (type == "verify") return {"verified", HonestVerify(line)};
  if (type == "run") return {"ran", HonestRun(line, begin)};
  if (type == "export") {
    return {"exported", "\"weights\":" + Touch("weights") + ",\"velocity\":" + Touch("velocity")};
  }
  if (type == "sync") return {"synced", "\"ok\":true"};
  if (type == "finish") {
    return {
        "finished",
        R"("peak_memory_bytes":123,"parameter_checksum":"crc32:00000000","effective_settings":{})"};
  }
  return {"error", R"("kind":"unsupported","message":"no such request")"};
}

[[noreturn]] void HangForEver() {
  while (true) ::pause();
}

/// Leaves the process group, the session and the parent, and keeps all descriptors.
void EscapeByDoubleFork(const std::string& pid_file) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::signal(SIGTERM, SIG_IGN);
    std::ofstream(pid_file + ".tmp") << ::getpid();
    std::rename((pid_file + ".tmp").c_str(), pid_file.c_str());
    HangForEver();
  }
  ::waitpid(child, nullptr, 0);
  while (::access(pid_file.c_str(), F_OK) != 0) ::sched_yield();
}

/// Threads that work until each has had its share of the processor, and then stay.
void KeepBusy(int threads) {
  constexpr std::int64_t kEachNs = 60'000'000;
  static std::atomic<int> working{0};
  working = threads;
  for (int i = 0; i < threads; ++i) {
    std::thread([] {
      ::pthread_setname_np(::pthread_self(), "busy-pool");
      while (Now(CLOCK_THREAD_CPUTIME_ID) < kEachNs) {
      }
      --working;
      while (working > 0) {
      }
      HangForEver();
    }).detach();
  }
  while (working > 0) ::sched_yield();
}

void Allocate(std::size_t mebibytes) {
  const std::size_t bytes = mebibytes << 20;
  volatile char* memory = static_cast<char*>(std::malloc(bytes));
  for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
}

void Print(std::size_t mebibytes) {
  const std::string chunk(1 << 20, 'p');
  for (std::size_t i = 0; i < mebibytes; ++i) WriteAll(i % 2 == 0 ? 1 : 2, chunk);
}

/// Takes one action; true if the request counts as answered.
bool Act(const std::string& action, std::string argument, const std::string& id,
         const std::string& reply_type) {
  for (std::size_t at; (at = argument.find("@ID@")) != std::string::npos;) {
    argument.replace(at, 4, id);
  }
  const auto number = static_cast<std::size_t>(std::atoll(argument.c_str()));
  if (action == "fields") {
    WriteAll(g_out, "{\"id\":" + id + ",\"type\":\"" + reply_type + "\"," + argument + "}\n");
    return true;
  }
  if (action == "raw" || action == "line") {
    WriteAll(g_out, argument + (action == "line" ? "\n" : ""));
    return true;
  }
  if (action == "error") {
    WriteAll(g_out, "{\"id\":" + id + ",\"type\":\"error\"," + argument + "}\n");
    return true;
  }
  if (action == "long-line") {
    const std::string chunk(1 << 20, 'x');
    for (std::size_t i = 0; i < number; ++i) WriteAll(g_out, chunk);
    return true;
  }
  if (action == "stdout") WriteAll(1, argument);
  if (action == "stderr") WriteAll(2, argument);
  if (action == "print") Print(number);
  if (action == "allocate") Allocate(number);
  if (action == "busy") KeepBusy(static_cast<int>(number));
  if (action == "escape") EscapeByDoubleFork(argument);
  if (action == "child" && ::fork() == 0) HangForEver();
  if (action == "stubborn") ::signal(SIGTERM, SIG_IGN);
  if (action == "close-reply") ::close(g_out);
  if (action == "hang") HangForEver();
  if (action == "exit") ::_exit(std::atoi(argument.c_str()));
  if (action == "signal") {
    ::signal(std::atoi(argument.c_str()), SIG_DFL);  // A sanitizer's handler would exit instead.
    ::raise(std::atoi(argument.c_str()));
  }
  if (action == "kill-parent") ::kill(::getppid(), std::atoi(argument.c_str()));
  return false;
}

struct Order {
  std::string type, action, argument;
};

}  // namespace

int main(int argc, char** argv) {
  g_in = std::atoi(std::getenv("DLBENCH_FD_IN"));
  g_out = std::atoi(std::getenv("DLBENCH_FD_OUT"));
  std::vector<Order> orders;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', first + 1);
    orders.push_back({text.substr(0, first), text.substr(first + 1, second - first - 1),
                      second == std::string::npos ? "" : text.substr(second + 1)});
    if (orders.back().type == "start") Act(orders.back().action, orders.back().argument, "0", "");
  }
  while (true) {
    const std::string line = ReadLine();
    const std::string id = Field(line, "id");
    const std::string type = Unquoted(Field(line, "type"));
    const std::int64_t begin = Now();
    const std::string reply_type = Honest(type, line, begin).first;
    bool answered = false;
    for (const Order& order : orders) {
      if (order.type != type) continue;
      answered = Act(order.action, order.argument, id, reply_type) || answered;
    }
    if (!answered) {
      const std::string fields = Honest(type, line, begin).second;
      WriteAll(g_out, "{\"id\":" + id + ",\"type\":\"" + reply_type + "\"," + fields + "}\n");
    }
    if (type == "finish" && !answered) ::_exit(0);
  }
}
