# gdb command `lane`: the backtrace of any lane of the block in which the program has stopped.
#
#   (gdb) source gemm/arch/cpu_lanes.gdb
#   (gdb) break pipeline.hpp:53 if t.self->tid == 37 && k_tile == 2
#   (gdb) lane t.self 64       stopped in a frame that has `t`: where is thread 64 of this block?
#
# Works on x86-64, for a lane that is suspended (waits, or has been interrupted).
define lane
  set $weft_block_lane = $arg0
  set $weft_lane = &$weft_block_lane->warps[$arg1 / 32][$arg1 % 32]
  printf "lane %d of warp %d: ", $weft_lane->lane, $weft_lane->warp
  output $weft_lane->waiting_in
  printf "\n"
  # What jump_fcontext saved: mxcsr and x87 word, r12 to r15, rbx, rbp, return address.
  set $weft_saved = (unsigned long*) $weft_lane->context.fcontext
  set $weft_rip = $rip
  set $weft_rsp = $rsp
  set $weft_rbp = $rbp
  set $weft_rbx = $rbx
  set $weft_r12 = $r12
  set $weft_r13 = $r13
  set $weft_r14 = $r14
  set $weft_r15 = $r15
  set $r12 = $weft_saved[1]
  set $r13 = $weft_saved[2]
  set $r14 = $weft_saved[3]
  set $r15 = $weft_saved[4]
  set $rbx = $weft_saved[5]
  set $rbp = $weft_saved[6]
  set $rip = $weft_saved[7]
  set $rsp = $weft_saved + 8
  backtrace 6
  set $rsp = $weft_rsp
  set $rbp = $weft_rbp
  set $rbx = $weft_rbx
  set $r12 = $weft_r12
  set $r13 = $weft_r13
  set $r14 = $weft_r14
  set $r15 = $weft_r15
  set $rip = $weft_rip
end
document lane
lane LANE TID: the backtrace of thread TID of the block that LANE (as in t.self) belongs to.
end
