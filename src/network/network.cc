#include "network/network.h"

namespace dlbench::network {

std::int64_t ElementCount(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::int64_t Node::Int(const std::string& key) const {
  return std::get<std::int64_t>(attributes.at(key));
}

bool Node::Bool(const std::string& key) const { return std::get<bool>(attributes.at(key)); }

double Node::Real(const std::string& key) const { return std::get<double>(attributes.at(key)); }

const std::string& Node::Text(const std::string& key) const {
  return std::get<std::string>(attributes.at(key));
}

const Shape& Node::List(const std::string& key) const {
  return std::get<Shape>(attributes.at(key));
}

std::string Network::FullName() const { return variant.empty() ? name : name + "-" + variant; }

std::vector<const Parameter*> Network::Parameters() const {
  std::vector<const Parameter*> all;
  for (const Node& node : nodes) {
    for (const Parameter& parameter : node.parameters) all.push_back(&parameter);
  }
  return all;
}

std::int64_t Network::ParameterCount() const {
  std::int64_t count = 0;
  for (const Parameter* parameter : Parameters()) count += ElementCount(parameter->shape);
  return count;
}

std::vector<const Buffer*> Network::Buffers() const {
  std::vector<const Buffer*> all;
  for (const Node& node : nodes) {
    for (const Buffer& buffer : node.buffers) all.push_back(&buffer);
  }
  return all;
}

std::int64_t Network::LabelsPerSample() const {
  for (const Node& node : nodes) {
    if (node.name == loss.input && node.output_shape.size() == 2) return node.output_shape.front();
  }
  return 1;
}

}  // namespace dlbench::network
