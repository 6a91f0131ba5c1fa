dlbench_fuzz(records_fuzz SOURCES records_fuzz.cc DEPENDS measure)
