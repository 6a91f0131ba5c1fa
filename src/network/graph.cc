#include "network/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace dlbench::network {
namespace {

/// "3x3 / 2" of a window, "256 units"; empty where an op has nothing that a picture needs.
std::string Details(const Node& node) {
  std::string details;
  if (node.attributes.count("kernel") > 0 && node.attributes.count("stride") > 0) {
    const Shape& kernel = node.List("kernel");
    const Shape& stride = node.List("stride");
    details = fmt::format(" {}x{}", kernel[0], kernel[1]);
    if (stride != Shape{1, 1}) {
      details += stride[0] == stride[1] ? fmt::format(" / {}", stride[0])
                                        : fmt::format(" / {}x{}", stride[0], stride[1]);
    }
  }
  for (const char* key : {"channels", "units"}) {
    if (node.attributes.count(key) > 0) details += fmt::format(", {} {}", node.Int(key), key);
  }
  return details;
}

std::string LabelOf(const Node& node, const std::string& name) {
  std::string label = name + ": " + node.op + Details(node);
  std::int64_t parameters = 0;
  for (const Parameter& parameter : node.parameters) parameters += ElementCount(parameter.shape);
  if (parameters > 0) label += fmt::format(", {} parameters", parameters);
  return label;
}

/// "stage1.3" of "stage1.3.conv1"; empty outside groups.
std::string GroupOf(const Node& node) {
  const std::size_t point = node.name.rfind('.');
  return point == std::string::npos ? "" : node.name.substr(0, point);
}

/// A string of DOT; the names of a network built by hand may hold anything.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + '"';
}

/// A text of XML.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

/// A picture's rows are boxes one below the other.
struct Row {
  std::string label;
  bool trained = false;
  std::vector<std::size_t> inputs;  ///< Rows.
};

std::vector<Row> RowsOf(const Network& network) {
  std::vector<Row> rows{
      {fmt::format("input: {}  {}", network.input.dataset, ToString(network.input.shape)),
       false,
       {}}};
  std::map<std::string, std::size_t> row_of{{"input", 0}};
  for (const Node& node : network.nodes) {
    Row row{LabelOf(node, node.name) + "  " + ToString(node.output_shape),
            !node.parameters.empty(),
            {}};
    for (const std::string& input : node.inputs) row.inputs.push_back(row_of[input]);
    row_of[node.name] = rows.size();
    rows.push_back(std::move(row));
  }
  rows.push_back({"loss: " + network.loss.kind, false, {row_of[network.loss.input]}});
  return rows;
}

// Lengths in pixels; a monospaced letter of 12 pixels is about 7.3 wide.
constexpr std::size_t kMargin = 16;
constexpr std::size_t kRowHeight = 44;
constexpr std::size_t kBoxHeight = 26;
constexpr std::size_t kLetterTenths = 73;

/// How far the arc that leads `rows` further reaches out to the right.
std::size_t Reach(std::size_t rows) { return std::min<std::size_t>(30 + 10 * rows, 200); }

std::string Arrow(std::size_t from, std::size_t to, std::size_t middle, std::size_t right) {
  const std::size_t start = kMargin + from * kRowHeight;
  const std::size_t end = kMargin + to * kRowHeight;
  const char* form = "  <path d=\"{}\" fill=\"none\" stroke=\"#666\" marker-end=\"url(#tip)\"/>\n";
  if (to == from + 1) {
    return fmt::format(fmt::runtime(form),
                       fmt::format("M {0} {1} L {0} {2}", middle, start + kBoxHeight, end));
  }
  const std::size_t out = right + Reach(to - from);
  return fmt::format(fmt::runtime(form),
                     fmt::format("M {0} {1} C {2} {1} {2} {3} {0} {3}", right,
                                 start + kBoxHeight / 2, out, end + kBoxHeight / 2));
}

}  // namespace

std::string ToDot(const Network& network) {
  std::string dot = fmt::format(
      "digraph {} {{\n  node [shape=box, fontname=\"sans-serif\"];\n  edge "
      "[fontname=\"sans-serif\", fontsize=10];\n  input [label={}, shape=ellipse];\n",
      Quoted(network.FullName()), Quoted("input: " + network.input.dataset));
  std::map<std::string, Shape> shapes{{"input", network.input.shape}};
  std::string group;
  const auto enter = [&](const std::string& next) {
    if (next == group) return;
    if (!group.empty()) dot += "  }\n";
    if (!next.empty()) {
      dot +=
          fmt::format("  subgraph {} {{\n  label={};\n", Quoted("cluster " + next), Quoted(next));
    }
    group = next;
  };
  for (const Node& node : network.nodes) {
    enter(GroupOf(node));
    const std::string name = group.empty() ? node.name : node.name.substr(group.size() + 1);
    dot += fmt::format("  {} [label={}];\n", Quoted(node.name), Quoted(LabelOf(node, name)));
    shapes[node.name] = node.output_shape;
  }
  enter("");
  dot += fmt::format("  loss [label={}, shape=ellipse];\n", Quoted(network.loss.kind));
  const auto edge = [&](const std::string& from, const std::string& to) {
    dot += fmt::format("  {} -> {} [label={}];\n", Quoted(from), Quoted(to),
                       Quoted(ToString(shapes[from])));
  };
  for (const Node& node : network.nodes) {
    for (const std::string& input : node.inputs) edge(input, node.name);
  }
  edge(network.loss.input, "loss");
  return dot + "}\n";
}

std::string ToSvg(const Network& network) {
  const std::vector<Row> rows = RowsOf(network);
  std::size_t letters = 0;
  std::size_t reach = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    letters = std::max(letters, rows[i].label.size());
    for (const std::size_t input : rows[i].inputs) {
      if (i > input + 1) reach = std::max(reach, Reach(i - input));
    }
  }
  const std::size_t width = letters * kLetterTenths / 10 + 20;
  const std::size_t right = kMargin + width;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"monospace\" font-size=\"12\">\n"
      "  <title>{}</title>\n"
      "  <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" orient=\"auto\"><path d=\"M 0 0 L 8 4 L 0 8 z\" "
      "fill=\"#666\"/></marker></defs>\n",
      right + reach + kMargin, 2 * kMargin + rows.size() * kRowHeight,
      Escaped(network.title + " (" + network.FullName() + ")"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t top = kMargin + i * kRowHeight;
    svg += fmt::format(
        "  <rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"#888\"/>\n  <text x=\"{}\" y=\"{}\">{}</text>\n",
        kMargin, top, width, kBoxHeight, rows[i].trained ? "#dde9f7" : "#f5f5f5", kMargin + 10,
        top + kBoxHeight - 9, Escaped(rows[i].label));
    for (const std::size_t input : rows[i].inputs) {
      svg += Arrow(input, i, kMargin + width / 2, right);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace dlbench::network
