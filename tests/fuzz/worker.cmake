dlbench_fuzz(worker_messages_fuzz SOURCES worker_messages_fuzz.cc DEPENDS worker core)
dlbench_fuzz(worker_lines_fuzz SOURCES worker_lines_fuzz.cc DEPENDS worker core)
