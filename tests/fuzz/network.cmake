# Seeds: networks/*.toml.
dlbench_fuzz(network_fuzz SOURCES network_fuzz.cc DEPENDS network)
