# Seeds: adapters/*/manifest.toml; an installation.json of an environment.
dlbench_fuzz(manifest_fuzz SOURCES manifest_fuzz.cc DEPENDS frameworks core)
dlbench_fuzz(installation_fuzz SOURCES installation_fuzz.cc DEPENDS frameworks core)
