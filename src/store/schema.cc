#include "store/schema.h"

#include <array>

namespace dlbench::store {
namespace {

constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE campaign (
  id                  INTEGER PRIMARY KEY,
  started             TEXT NOT NULL,     -- calendar label
  dlbench_version     TEXT NOT NULL,
  command_line        TEXT NOT NULL,
  seed                INTEGER NOT NULL,  -- 64 bits, unsigned
  plan_hash           TEXT NOT NULL,
  plan                TEXT NOT NULL,     -- JSON
  machine             TEXT NOT NULL,     -- JSON
  machine_fingerprint TEXT NOT NULL,
  finished            INTEGER NOT NULL
) STRICT;

CREATE TABLE configuration (
  id                INTEGER PRIMARY KEY,
  identity          TEXT NOT NULL UNIQUE,  -- JSON array of all columns below
  framework         TEXT NOT NULL,
  framework_version TEXT NOT NULL,
  language          TEXT NOT NULL,
  installation      TEXT NOT NULL,
  preset            TEXT NOT NULL,
  mode_label        TEXT NOT NULL,
  network           TEXT NOT NULL,
  network_title     TEXT NOT NULL,
  variant           TEXT NOT NULL,
  network_hash      TEXT NOT NULL,
  data              TEXT NOT NULL,
  data_source       TEXT NOT NULL,
  data_hash         TEXT NOT NULL,
  synthetic         INTEGER NOT NULL,
  batch             INTEGER NOT NULL,
  mode              TEXT NOT NULL,
  device            TEXT NOT NULL,
  precision         TEXT NOT NULL,
  input             TEXT NOT NULL,
  threads           INTEGER NOT NULL,
  rank              INTEGER NOT NULL,
  world_size        INTEGER NOT NULL,
  flops_per_step    REAL NOT NULL,
  settings          TEXT NOT NULL          -- JSON object: asked for
) STRICT;

-- What the adapter read back in a campaign: it may differ from one machine to the next.
CREATE TABLE effective_settings (
  campaign      INTEGER NOT NULL REFERENCES campaign,
  configuration INTEGER NOT NULL REFERENCES configuration,
  settings      TEXT NOT NULL,             -- JSON object
  PRIMARY KEY (campaign, configuration)
) STRICT;

-- Launches begun and not yet added: what a kill leaves here is incomplete.
CREATE TABLE in_flight (
  campaign      INTEGER NOT NULL REFERENCES campaign,
  configuration INTEGER NOT NULL REFERENCES configuration,
  round         INTEGER NOT NULL,
  PRIMARY KEY (campaign, configuration, round)
) STRICT;

CREATE TABLE launch (
  id                  INTEGER PRIMARY KEY,
  campaign            INTEGER NOT NULL REFERENCES campaign,
  configuration       INTEGER NOT NULL REFERENCES configuration,
  round               INTEGER NOT NULL,    -- -1 for the gate launch
  position            INTEGER NOT NULL,
  purpose             TEXT NOT NULL,
  status              TEXT NOT NULL,
  reason              TEXT NOT NULL,
  signal              INTEGER,
  exit_status         INTEGER,
  log_tail            TEXT NOT NULL,
  folder              TEXT NOT NULL,
  started             TEXT NOT NULL,       -- calendar label
  request_ns          INTEGER NOT NULL,
  reply_ns            INTEGER NOT NULL,
  cpu_seconds         REAL NOT NULL,
  threads_used        REAL NOT NULL,
  peak_memory_bytes   INTEGER NOT NULL,
  ready_seconds       REAL NOT NULL,
  prepare_seconds     REAL NOT NULL,
  first_step_seconds  REAL NOT NULL,
  parameter_checksum  TEXT NOT NULL,
  disturbance         TEXT NOT NULL,       -- JSON object
  median_step_seconds REAL,                -- from here on: the summary of `records`
  mean_step_seconds   REAL,
  min_step_seconds    REAL,
  max_step_seconds    REAL,
  p95_step_seconds    REAL,
  p99_step_seconds    REAL,
  steps               INTEGER,
  warmup_steps        INTEGER,
  blocks              INTEGER,
  minimum_block_steps INTEGER,
  minimum_block_ns    INTEGER,
  records             BLOB                 -- {uint32 steps, int64 begin_ns, int64 end_ns}...
) STRICT;
-- A finished launch is stored once; a failed one may be tried again.
CREATE UNIQUE INDEX launch_done ON launch (campaign, configuration, round, purpose)
  WHERE status = 'done';

CREATE TABLE verification (
  launch      INTEGER PRIMARY KEY REFERENCES launch,
  level       TEXT NOT NULL,
  status      TEXT NOT NULL,
  steps       INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  diagnosis   TEXT NOT NULL,
  blind_spots TEXT NOT NULL                -- JSON array
) STRICT;

CREATE TABLE verification_check (
  launch          INTEGER NOT NULL REFERENCES verification,
  number          INTEGER NOT NULL,        -- execution order
  quantity        TEXT NOT NULL,
  tensor          TEXT NOT NULL,
  moment          TEXT NOT NULL,
  steps           INTEGER NOT NULL,
  norm_relative   REAL,                    -- NULL: not a number
  worst_over_rms  REAL,
  cosine_distance REAL,
  finite          INTEGER NOT NULL,
  norm_limit      REAL,
  worst_limit     REAL,
  decidable       INTEGER NOT NULL,
  passed          INTEGER NOT NULL,
  PRIMARY KEY (launch, number)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array<Migration, 1> kMigrations{{{1, kVersion1}}};
static_assert(kMigrations.back().version == kSchemaVersion);

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

}  // namespace dlbench::store
