#include "measure/warmup.h"

namespace dlbench::measure {

std::span<const StepRecord> AfterWarmup(std::span<const StepRecord> records,
                                        std::int64_t warmup_steps) {
  std::int64_t before = 0;
  std::size_t cut = 0;
  while (cut < records.size() && before < warmup_steps) before += records[cut++].steps;
  return records.subspan(cut);
}

}  // namespace dlbench::measure
