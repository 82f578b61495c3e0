// The handler of SIGSEGV, and when it is there.
#include "weft/gemm/arch/cpu/workers/cpu_stack_watch.hpp"

#include <unistd.h>

#include <cstddef>
#include <mutex>

#include "weft/gemm/arch/cpu/executor/cpu_sanitizers.hpp"

namespace weft::arch::cpu {
namespace {

constinit std::mutex mutex;
constinit int watches = 0;            // guarded by mutex
constinit bool is_installed = false;  // guarded by mutex
struct sigaction before = {};         // written while the handler is not there

constinit thread_local const Worker* running = nullptr;  // the worker whose lanes this thread runs

// Text without memory of its own, as a signal handler needs it.
struct Text {
  char text[512];
  std::size_t size = 0;

  Text& operator<<(const char* more) {
    while (*more != '\0' && size < sizeof(text)) text[size++] = *more++;
    return *this;
  }
  Text& operator<<(std::size_t number) {
    char digits[24];
    char* first = digits + sizeof(digits);
    *--first = '\0';
    do {
      *--first = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << first;
  }
};

void HandOn(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {  // the same access again ends the program
    struct sigaction ends = {};
    ends.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &ends, nullptr);
    if (info->si_code <= 0) raise(signal);  // sent by somebody: no access would follow
  }
}

void OnSegv(int signal, siginfo_t* info, void* context) {
  // What was sent by kill has no address.
  const std::size_t bytes =
      running != nullptr && info->si_code > 0 ? running->FullStack(info->si_addr) : 0;
  if (bytes != 0) {
    Text text;
    text << "Weft: CPU executor: a lane's stack of " << bytes
         << " bytes is full: the kernel, a functor or what they call has large variables or calls "
            "itself; keep them "
            "smaller, or give each lane more by the environment variable WEFT_CPU_STACK="
         << 4 * bytes << " or by CpuOptions::stack_bytes\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.text, text.size);
  }
  HandOn(signal, info, context);
}

}  // namespace

StackWatch::StackWatch() {
  if (UnderAsan() || UnderTsan()) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (watches++ > 0 || is_installed) return;
  struct sigaction action = {};
  action.sa_sigaction = &OnSegv;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // Before the handler can run, what it hands on to is known.
  if (sigaction(SIGSEGV, nullptr, &before) != 0) return;
  is_installed = sigaction(SIGSEGV, &action, nullptr) == 0;
}

StackWatch::~StackWatch() {
  if (UnderAsan() || UnderTsan()) return;
  const std::lock_guard<std::mutex> lock(mutex);
  if (--watches > 0 || !is_installed) return;
  // Somebody who has put a handler before it meanwhile may hand on to it, so that it stays then.
  struct sigaction now = {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != &OnSegv) return;
  is_installed = sigaction(SIGSEGV, &before, nullptr) != 0;
}

WatchedThread::WatchedThread(Worker& worker) : outer_(running) {
  running = &worker;
  if (UnderAsan() || UnderTsan()) return;
  if (sigaltstack(nullptr, &callers_) != 0 || (callers_.ss_flags & SS_DISABLE) == 0) return;
  stack_t own = {};
  own.ss_sp = worker.signal_stack().data();
  own.ss_size = worker.signal_stack().size();
  has_own_stack_ = sigaltstack(&own, nullptr) == 0;
}

WatchedThread::~WatchedThread() {
  running = outer_;
  if (!has_own_stack_) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace weft::arch::cpu
