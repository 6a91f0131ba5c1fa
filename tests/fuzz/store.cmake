dlbench_fuzz(column_text_fuzz SOURCES column_text_fuzz.cc DEPENDS store)
