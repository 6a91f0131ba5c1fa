dlbench_fuzz(plan_fuzz SOURCES plan_fuzz.cc DEPENDS experiment)
