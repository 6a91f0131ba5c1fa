dlbench_fuzz(safetensors_fuzz SOURCES safetensors_fuzz.cc DEPENDS data)
dlbench_fuzz(idx_fuzz SOURCES idx_fuzz.cc DEPENDS data)
dlbench_fuzz(cifar_fuzz SOURCES cifar_fuzz.cc DEPENDS data)
dlbench_fuzz(corpus_fuzz SOURCES corpus_fuzz.cc DEPENDS data)
