dlbench_fuzz(sdk_json_fuzz SOURCES sdk_json_fuzz.cc DEPENDS options adapter_sdk)
dlbench_fuzz(sdk_safetensors_fuzz SOURCES sdk_safetensors_fuzz.cc DEPENDS options adapter_sdk)
