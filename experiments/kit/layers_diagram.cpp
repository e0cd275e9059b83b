#include "experiments/kit/layers_diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boltzmark::experiments {
namespace {

constexpr double kRowHeight = 1.7;  // in distances of neighbouring nodes

struct Point {
  double x, y;
};

struct Node {
  Point at;
  std::string text;
  bool drawn() const { return text != "…"; }
};

std::vector<std::string> row(const char* element, Point at, Point to, const std::string& text) {
  return {element,
          fmt::format("{:.4g}", at.x),
          fmt::format("{:.4g}", at.y),
          fmt::format("{:.4g}", to.x - at.x),
          fmt::format("{:.4g}", to.y - at.y),
          text};
}

Figure draw(const std::vector<DiagramLayer>& layers, const std::vector<std::string>& weights,
            const std::vector<std::pair<int, int>>& edges) {
  std::size_t widest = 0;
  for (const DiagramLayer& layer : layers) widest = std::max(widest, layer.symbols.size());
  const double right = static_cast<double>(widest) / 2 + 0.3;
  Figure figure;
  figure.script = "layers-diagram.gp";
  figure.data = {{"element", "x", "y", "dx", "dy", "text"}};
  std::vector<Node> nodes, names;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const double y = kRowHeight * static_cast<double>(l);
    const std::vector<std::string>& symbols = layers[l].symbols;
    const double left = (1 - static_cast<double>(symbols.size())) / 2;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      nodes.push_back({{left + static_cast<double>(i), y}, symbols[i]});
    names.push_back({{right, y}, layers[l].name});
    if (l < weights.size()) names.push_back({{right, y + kRowHeight / 2}, weights[l]});
  }
  for (const auto& [a, b] : edges)
    if (nodes[a].drawn() && nodes[b].drawn())
      figure.data.push_back(row("edge", nodes[a].at, nodes[b].at, ""));
  for (const Node& node : nodes)
    figure.data.push_back(row(node.drawn() ? "node" : "gap", node.at, node.at, node.text));
  for (const Node& name : names) figure.data.push_back(row("name", name.at, name.at, name.text));
  return figure;
}

}  // namespace

void add_graph(const LayersDiagram& diagram, const Results& results, Summary& summary) {
  if (results.empty()) return;
  Figure figure =
      draw(diagram.layers, diagram.weights, results.trials().front().outputs.at("edges"));
  figure.name = "graph";
  figure.caption = diagram.caption;
  figure.height = diagram.height;
  summary.add(std::move(figure));
}

}  // namespace boltzmark::experiments
