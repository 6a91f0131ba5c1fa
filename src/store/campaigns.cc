#include <bit>
#include <string>

#include "core/text.h"
#include "store/column_text.h"
#include "store/sqlite_store.h"

namespace dlbench::store {
namespace {

Value Text(const std::string& text) { return SanitizeUtf8(text); }
Value Int(std::int64_t number) { return number; }

constexpr const char* kInsertConfiguration =
    "INSERT INTO configuration (framework, framework_version, language, installation, preset,"
    " mode_label, network, network_title, variant, network_hash, data, data_source, data_hash,"
    " synthetic, batch, mode, device, precision, input, threads, rank, world_size, flops_per_step,"
    " settings, identity)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kSelectConfigurations =
    "SELECT c.framework, c.framework_version, c.language, c.installation, c.preset,"
    " c.mode_label, c.network, c.network_title, c.variant, c.network_hash, c.data, c.data_source,"
    " c.data_hash, c.synthetic, c.batch, c.mode, c.device, c.precision, c.input, c.threads, c.rank,"
    " c.world_size, c.flops_per_step, c.settings, c.id, coalesce(e.settings, '{}')"
    " FROM configuration c"
    " LEFT JOIN effective_settings e ON e.configuration = c.id AND e.campaign = ?1"
    " WHERE e.campaign IS NOT NULL"
    " OR c.id IN (SELECT configuration FROM launch WHERE campaign = ?1)"
    " OR c.id IN (SELECT configuration FROM in_flight WHERE campaign = ?1)"
    // Shared with earlier campaigns, so that ids tell nothing about the order in this one.
    " ORDER BY coalesce((SELECT min(id) FROM launch WHERE campaign = ?1 AND configuration = c.id),"
    " 9223372036854775807), c.id";

/// The columns in the order of the statements above, without identity.
std::vector<Value> ConfigurationValues(const Configuration& c) {
  return {Text(c.framework), Text(c.framework_version), Text(c.language), Text(c.installation),
          Text(c.preset),    Text(c.mode_label),        Text(c.network),  Text(c.network_title),
          Text(c.variant),   Text(c.network_hash),      Text(c.data),     Text(c.data_source),
          Text(c.data_hash), Int(c.synthetic ? 1 : 0),  Int(c.batch),     Text(c.mode),
          Text(c.device),    Text(c.precision),         Text(c.input),    Int(c.threads),
          Int(c.rank),       Int(c.world_size),         c.flops_per_step, ToJson(c.settings)};
}

/// A text that is equal for two configurations if and only if all their columns are.
std::string IdentityOf(const std::vector<Value>& values) {
  std::vector<std::string> parts;
  for (const Value& value : values) {
    if (const auto* text = std::get_if<std::string>(&value)) parts.push_back(*text);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      parts.push_back(std::to_string(*number));
    }
    if (const auto* real = std::get_if<double>(&value)) {
      parts.push_back(std::to_string(std::bit_cast<std::int64_t>(*real)));
    }
  }
  return ToJson(parts);
}

Result<Configuration> ReadConfiguration(const Statement& row) {
  Configuration c;
  int column = 0;
  for (std::string* text : {&c.framework, &c.framework_version, &c.language, &c.installation,
                            &c.preset, &c.mode_label, &c.network, &c.network_title, &c.variant,
                            &c.network_hash, &c.data, &c.data_source, &c.data_hash}) {
    *text = row.Text(column++);
  }
  c.synthetic = row.Int(column++) != 0;
  c.batch = row.Int(column++);
  for (std::string* text : {&c.mode, &c.device, &c.precision, &c.input}) {
    *text = row.Text(column++);
  }
  for (int* number : {&c.threads, &c.rank, &c.world_size}) {
    *number = static_cast<int>(row.Int(column++));
  }
  c.flops_per_step = row.Real(column++);
  DLBENCH_ASSIGN_OR_RETURN(c.settings, TextMapFromJson(row.Text(column++)));
  c.id = row.Int(column++);
  DLBENCH_ASSIGN_OR_RETURN(c.effective_settings, TextMapFromJson(row.Text(column)));
  return c;
}

/// "threads: 2, now 4" for the first setting that differs.
std::string FirstDifference(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& now) {
  const auto shown = [](const std::map<std::string, std::string>& settings,
                        const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string("absent") : "'" + found->second + "'";
  };
  std::map<std::string, std::string> all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [key, unused] : all) {
    if (shown(before, key) != shown(now, key)) {
      return key + " was " + shown(before, key) + " and is now " + shown(now, key);
    }
  }
  return "no setting";
}

}  // namespace

Result<std::int64_t> SqliteStore::AddCampaign(const Campaign& campaign) {
  DLBENCH_RETURN_IF_ERROR(connection_.Execute(
      "INSERT INTO campaign (started, dlbench_version, command_line, seed, plan_hash, plan, "
      "machine,"
      " machine_fingerprint, finished) VALUES (?,?,?,?,?,?,?,?,?)",
      {Text(campaign.started), Text(campaign.dlbench_version), Text(campaign.command_line),
       Int(std::bit_cast<std::int64_t>(campaign.seed)), Text(campaign.plan_hash),
       Text(campaign.plan_json), Text(campaign.machine_json), Text(campaign.machine_fingerprint),
       Int(campaign.finished ? 1 : 0)}));
  campaign_ = connection_.LastInsertId();
  return campaign_;
}

Status SqliteStore::FinishCampaign(std::int64_t campaign) {
  DLBENCH_RETURN_IF_ERROR(
      connection_.Execute("UPDATE campaign SET finished = 1 WHERE id = ?", {Int(campaign)}));
  if (connection_.Changes() == 0) {
    return Error(ErrorCode::kNotFound, "there is no campaign " + std::to_string(campaign));
  }
  return {};
}

Result<std::vector<Campaign>> SqliteStore::Campaigns() {
  DLBENCH_ASSIGN_OR_RETURN(
      Statement row,
      connection_.Query("SELECT id, started, dlbench_version, command_line, seed, plan_hash, plan,"
                        " machine, machine_fingerprint, finished FROM campaign ORDER BY id DESC"));
  std::vector<Campaign> campaigns;
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return campaigns;
    Campaign campaign;
    campaign.id = row.Int(0);
    campaign.started = row.Text(1);
    campaign.dlbench_version = row.Text(2);
    campaign.command_line = row.Text(3);
    campaign.seed = std::bit_cast<std::uint64_t>(row.Int(4));
    campaign.plan_hash = row.Text(5);
    campaign.plan_json = row.Text(6);
    campaign.machine_json = row.Text(7);
    campaign.machine_fingerprint = row.Text(8);
    campaign.finished = row.Int(9) != 0;
    campaigns.push_back(std::move(campaign));
  }
}

Result<std::int64_t> SqliteStore::AddConfiguration(const Configuration& configuration) {
  std::vector<Value> values = ConfigurationValues(configuration);
  const std::string identity = IdentityOf(values);
  DLBENCH_ASSIGN_OR_RETURN(
      const std::int64_t known,
      connection_.QueryInt("SELECT id FROM configuration WHERE identity = ?", {identity}));
  if (known != 0) return known;
  values.emplace_back(identity);
  DLBENCH_RETURN_IF_ERROR(connection_.Execute(kInsertConfiguration, values));
  return connection_.LastInsertId();
}

Result<std::vector<Configuration>> SqliteStore::Configurations(std::int64_t campaign) {
  DLBENCH_ASSIGN_OR_RETURN(Statement row,
                           connection_.Query(kSelectConfigurations, {Int(campaign)}));
  std::vector<Configuration> configurations;
  while (true) {
    DLBENCH_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return configurations;
    DLBENCH_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration(row));
    configurations.push_back(std::move(configuration));
  }
}

Status SqliteStore::SetEffectiveSettings(std::int64_t configuration,
                                         const std::map<std::string, std::string>& settings) {
  if (campaign_ == 0) {
    return Error(ErrorCode::kInternal, "effective settings came before any campaign was named");
  }
  const std::string json = ToJson(settings);
  DLBENCH_ASSIGN_OR_RETURN(
      Statement row, connection_.Query("SELECT settings FROM effective_settings WHERE campaign = ?"
                                       " AND configuration = ?",
                                       {Int(campaign_), Int(configuration)}));
  DLBENCH_ASSIGN_OR_RETURN(const bool found, row.Step());
  if (found && row.Text(0) == json) return {};
  if (found) {
    DLBENCH_ASSIGN_OR_RETURN(const auto before, TextMapFromJson(row.Text(0)));
    DLBENCH_ASSIGN_OR_RETURN(const auto now, TextMapFromJson(json));
    return Error(ErrorCode::kFailed,
                 "the adapter's settings changed between two launches of one configuration: " +
                     FirstDifference(before, now));
  }
  return connection_.Execute(
      "INSERT INTO effective_settings (campaign, configuration, settings) VALUES (?,?,?)",
      {Int(campaign_), Int(configuration), json});
}

}  // namespace dlbench::store
