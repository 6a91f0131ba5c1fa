dlbench_fuzz(machine_cgroup_fuzz SOURCES ${CMAKE_CURRENT_LIST_DIR}/machine_cgroup_fuzz.cc
  DEPENDS machine core)
dlbench_fuzz(machine_cpuinfo_fuzz SOURCES ${CMAKE_CURRENT_LIST_DIR}/machine_cpuinfo_fuzz.cc
  DEPENDS machine core)
