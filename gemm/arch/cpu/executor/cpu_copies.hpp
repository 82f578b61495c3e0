// The asynchronous copies of one lane (cp.async): issued, grouped by commit, promised by wait.
//
// The hardware may move the bytes at any time between issue and wait. Eager copying moves them at
// once. Deferred copying moves them at the wait that promises them, and fills the destination with
// garbage in the meantime, so that whoever reads too early (or overwrites a buffer that is still
// being read) computes a wrong result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/layouts/base/compiler.hpp"

namespace weft::arch::cpu {

class CopyQueue {
 public:
  // Forgets everything, also copies that nobody waited for.
  void Reset(bool deferred, bool poison) {
    deferred_ = deferred;
    poison_ = poison;
    copies_.clear();
    groups_.clear();
    copies_done_ = groups_done_ = 0;
  }

  // `bytes` is 4, 8 or 16; those past `src_bytes` are filled with zeros.
  void Issue(void* dst, const void* src, int bytes, int src_bytes) {
    const Copy copy{static_cast<char*>(dst), static_cast<const char*>(src), bytes, src_bytes};
    if (!deferred_) {
      Perform(copy);
      return;
    }
    if (src_bytes > 0) TouchSource(copy);
    if (poison_) {
      auto* words = reinterpret_cast<volatile uint32_t*>(copy.dst);
      for (int i = 0; i < bytes / 4; ++i) words[i] = kGarbage * static_cast<uint32_t>(i + 1);
    }
    copies_.push_back(copy);
  }

  // What is in flight becomes `to`'s, to be waited for there.
  void MoveTo(CopyQueue* to) {
    to->Reset(deferred_, poison_);
    to->copies_.assign(copies_.begin() + static_cast<std::ptrdiff_t>(copies_done_), copies_.end());
    to->groups_.assign(1, to->copies_.size());
    copies_.clear();
    groups_.assign(groups_.size() - groups_done_, 0);  // those that are empty now
    copies_done_ = groups_done_ = 0;
  }

  void Commit() {
    if (deferred_) groups_.push_back(copies_.size());
  }

  // Performs the oldest groups until at most `in_flight` remain; landed(to, bytes) for each copy.
  template <class Landed>
  void Wait(size_t in_flight, const Landed& landed) {
    while (groups_.size() - groups_done_ > in_flight) {
      for (const size_t end = groups_[groups_done_++]; copies_done_ < end; ++copies_done_) {
        Perform(copies_[copies_done_]);
        landed(copies_[copies_done_].dst, copies_[copies_done_].bytes);
      }
    }
    if (copies_done_ == copies_.size() && copies_done_ > 0) {  // only empty groups may be left
      groups_.assign(groups_.size() - groups_done_, 0);
      copies_.clear();
      copies_done_ = groups_done_ = 0;
    }
  }
  void Wait(size_t in_flight) {
    Wait(in_flight, [](char*, int) {});
  }

 private:
  struct Copy {
    char* dst;
    const char* src;
    int bytes;
    int src_bytes;
  };
  struct alignas(16) Bytes16 {
    uint32_t words[4];
  };

  static constexpr uint32_t kGarbage = 0x5AA5D00Du;

  // Reads both ends of the source, so that an out-of-bounds copy is reported where it is issued.
  static void TouchSource(const Copy& copy) {
    const auto* src = static_cast<const volatile char*>(copy.src);
    (void)src[0];
    (void)src[copy.src_bytes - 1];
  }

  static void Perform(const Copy& copy) {
    if (copy.bytes == 16 && copy.src_bytes == 16) {
      *reinterpret_cast<Bytes16*>(copy.dst) = *reinterpret_cast<const Bytes16*>(copy.src);
      return;
    }
    for (int i = 0; i < copy.bytes; ++i) copy.dst[i] = i < copy.src_bytes ? copy.src[i] : char{0};
  }

  bool deferred_ = true;
  bool poison_ = true;
  std::vector<Copy> copies_;
  std::vector<size_t> groups_;  // groups_[i]: how many of copies_ belong to groups 0..i
  size_t copies_done_ = 0;
  size_t groups_done_ = 0;
};

}  // namespace weft::arch::cpu
