#include "boltzmark/io/datasets/norb_toy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/datasets/toy_objects.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

constexpr int kRaysAcross = 64;  // of an image, where its pixels are fewer
constexpr float kDistance = 5, kHalfView = 1.15F;
constexpr Point3 kTarget{0, 0, 0.4F};
constexpr double kHalfBaseline = 3;  // degrees from the middle to a camera

constexpr float kGroundAlbedo = 0.75F, kAmbient = 0.22F;
constexpr int kLights = 4;

// How bright each light is in each lighting: from the left, the right, the front and above.
constexpr std::array<std::array<float, kLights>, kNorbLightings> kBrightness = {
    {{0.8F, 0, 0, 0},
     {0, 0.8F, 0, 0},
     {0, 0, 0.8F, 0.1F},
     {0, 0, 0, 0.75F},
     {0.45F, 0.45F, 0, 0},
     {0.25F, 0.25F, 0.25F, 0.25F}}};

struct Turn {
  float cosine, sine;

  // Rounded, so that no mathematics library's last bit reaches an image.
  static Turn of_degrees(double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    const auto rounded = [](double x) {
      return static_cast<float>(std::round(x * 0x1p16) * 0x1p-16);
    };
    return {rounded(std::cos(angle)), rounded(std::sin(angle))};
  }
  /// Turns about the z axis.
  Point3 operator()(Point3 p) const {
    return {cosine * p.x - sine * p.y, sine * p.x + cosine * p.y, p.z};
  }
};

std::array<Point3, kLights> light_directions() {
  return {unit_vector({0.5F, 0.8F, 0.8F}), unit_vector({0.5F, -0.8F, 0.8F}),
          unit_vector({1, 0.15F, 0.7F}), unit_vector({-0.2F, 0.1F, 1})};
}

/// One camera's view of a toy that has been turned; rays and lights are turned instead.
struct ToyView {
  const Toy& toy;
  Turn back;  ///< from the room to the toy
  Point3 camera, right, up, forward;
  std::array<Point3, kLights> lights;

  ToyView(const Toy& seen, const NorbPose& pose, bool right_camera)
      : toy(seen), back(Turn::of_degrees(-10.0 * pose.azimuth)) {
    const Turn height = Turn::of_degrees(30 + 5 * pose.elevation);
    const Turn aside = Turn::of_degrees(right_camera ? kHalfBaseline : -kHalfBaseline);
    const Turn turn{back.cosine * aside.cosine - back.sine * aside.sine,
                    back.sine * aside.cosine + back.cosine * aside.sine};
    forward = turn({-height.cosine, 0, -height.sine});
    right = turn({0, 1, 0});
    up = turn({-height.sine, 0, height.cosine});
    camera = kTarget - kDistance * forward;
    lights = light_directions();
    for (Point3& light : lights) light = back(light);
  }

  Ray ray(float x, float y) const {
    return {camera, kDistance * forward + (kHalfView * x) * right + (kHalfView * y) * up};
  }
};

// The light that a view's ray brings back in each lighting.
std::array<float, kNorbLightings> shine(const ToyView& view, const Ray& ray) {
  const auto hit = view.toy.solid.first_hit(ray);
  const float ground = -ray.origin.z / ray.direction.z;
  const bool on_toy = hit && hit->t < ground;
  const Point3 normal = on_toy ? hit->normal : Point3{0, 0, 1};
  const float albedo = on_toy ? view.toy.albedo : kGroundAlbedo;
  const Point3 place = ray.at(on_toy ? hit->t : ground) + 1e-3F * normal;
  std::array<float, kNorbLightings> light;
  light.fill(albedo * kAmbient);
  for (int k = 0; k < kLights; ++k) {
    const float slope = dot(normal, view.lights[k]);
    if (slope <= 0 || view.toy.solid.stops({place, view.lights[k]})) continue;
    for (int i = 0; i < kNorbLightings; ++i) light[i] += albedo * slope * kBrightness[i][k];
  }
  return light;
}

unsigned char grey_level(float light) {
  return static_cast<unsigned char>(std::min(255.0F, std::floor(255 * light + 0.5F)));
}

// Renders a view in every lighting.
void render(const ToyView& view, int side,
            const std::array<unsigned char*, kNorbLightings>& images) {
  const int across = std::max(1, kRaysAcross / side), rays = across * side;
  const auto place = [&](int i) {
    return (2 * static_cast<float>(i) + 1) / static_cast<float>(rays) - 1;
  };
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      std::array<float, kNorbLightings> sums{};
      for (int y = row * across; y < (row + 1) * across; ++y)
        for (int x = column * across; x < (column + 1) * across; ++x) {
          const auto light = shine(view, view.ray(place(x), -place(y)));
          for (int i = 0; i < kNorbLightings; ++i) sums[i] += light[i];
        }
      for (int i = 0; i < kNorbLightings; ++i)
        images[i][row * side + column] = grey_level(sums[i] / static_cast<float>(across * across));
    }
}

// The grid in its own order: categories, instances, elevations, azimuths, lightings.
struct ToyGrid {
  std::vector<std::int32_t> categories;
  std::vector<NorbPose> poses;
};

ToyGrid toy_grid(bool test) {
  ToyGrid grid;
  for (int category = 0; category < kNorbCategories; ++category)
    for (const int instance : norb_instances(test))
      for (int place = 0; place < kNorbElevations * kNorbAzimuths * kNorbLightings; ++place) {
        grid.categories.push_back(category);
        grid.poses.push_back({.instance = instance,
                              .elevation = place / kNorbLightings / kNorbAzimuths,
                              .azimuth = 2 * (place / kNorbLightings % kNorbAzimuths),
                              .lighting = place % kNorbLightings});
      }
  return grid;
}

// Where each pair of the grid stands in the set.
std::vector<int> draw_order(bool test) {
  Stream stream(make_key(1, "norb-toy"), Purpose::data, test ? 1 : 0);
  return permutation(kNorbPairs, stream);
}

ToyGrid reordered(const ToyGrid& grid, const std::vector<int>& order) {
  ToyGrid result = grid;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.categories[order[i]] = grid.categories[i];
    result.poses[order[i]] = grid.poses[i];
  }
  return result;
}

}  // namespace

NorbSet render_norb_toy(bool test, int side) {
  if (side < 1) throw InvalidArgument(fmt::format("side = {} (must be at least 1)", side));
  const ToyGrid grid = toy_grid(test);
  const std::vector<int> order = draw_order(test);
  const ToyGrid in_order = reordered(grid, order);
  NorbSet set = make_norb_set(in_order.categories, in_order.poses, side);
  const std::size_t pixels = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  parallel_for(kNorbPairs / kNorbLightings, [&](std::size_t task) {
    const std::size_t first = task * kNorbLightings;
    const Toy toy =
        make_toy(static_cast<ToyCategory>(grid.categories[first]), grid.poses[first].instance);
    for (const bool right : {false, true}) {
      std::array<unsigned char*, kNorbLightings> images;
      for (std::size_t i = 0; i < kNorbLightings; ++i)
        images[i] = set.images.bytes.data() + (2 * order[first + i] + (right ? 1 : 0)) * pixels;
      render(ToyView(toy, grid.poses[first], right), side, images);
    }
  });
  return set;
}

std::optional<int> norb_toy_side(std::string_view name) {
  if (name == "norb-toy") return 32;
  if (name == "norb-toy-96") return kNorbSide;
  return std::nullopt;
}

}  // namespace boltzmark
