#include "experiments/kit/datasets/norb_toy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark::experiments {

namespace {

using PartShape = Part::Shape;

/// Builds a toy out of parts whose sizes are drawn.
class Workshop {
 public:
  explicit Workshop(StreamKey key) : stream_(key, Purpose::data) {}

  float between(double low, double high) { return static_cast<float>(stream_.uniform(low, high)); }
  int choice(int count) {
    return static_cast<int>(stream_.below(static_cast<std::uint64_t>(count)));
  }
  void add(PartShape shape, Point3 centre, Point3 half) { parts_.push_back({shape, centre, half}); }
  /// Adds a part and its mirror image on the other side.
  void add_pair(PartShape shape, Point3 centre, Point3 half) {
    add(shape, centre, half);
    add(shape, {centre.x, -centre.y, centre.z}, half);
  }
  Toy finish() { return {Solid(parts_), between(0.55, 0.9)}; }

 private:
  Stream stream_;
  std::vector<Part> parts_;
};

void build_animal(Workshop& shop) {
  const float leg = shop.between(0.18, 0.5), thick = shop.between(0.05, 0.09);
  const Point3 body{shop.between(0.38, 0.6), shop.between(0.16, 0.26), shop.between(0.17, 0.27)};
  const float middle = 2 * leg + 0.7F * body.z;
  shop.add(PartShape::ellipsoid, {0, 0, middle}, body);
  for (const float x : {0.62F, -0.62F})
    shop.add_pair(PartShape::cylinder_z, {x * body.x, 0.55F * body.y, leg}, {thick, thick, leg});
  const float neck = shop.between(0.05, 0.32), head = shop.between(0.11, 0.18);
  shop.add(PartShape::ellipsoid, {0.85F * body.x, 0, middle + neck}, {0.1F, 0.09F, neck + 0.12F});
  const Point3 skull{0.9F * body.x + 0.6F * head, 0, middle + 2 * neck};
  shop.add(PartShape::ellipsoid, skull, {1.4F * head, 0.8F * head, head});
  shop.add_pair(PartShape::ellipsoid, skull + Point3{-0.6F * head, 0.6F * head, head},
                {0.05F, 0.04F, shop.between(0.06, 0.16)});
  shop.add(PartShape::ellipsoid, {-1.05F * body.x, 0, middle + 0.05F},
           {shop.between(0.1, 0.25), 0.04F, 0.05F});
}

void build_human(Workshop& shop) {
  const float leg = shop.between(0.26, 0.36), thick = shop.between(0.07, 0.11);
  const float stride = shop.between(0, 0.16);
  const Point3 torso{shop.between(0.12, 0.18), shop.between(0.2, 0.3), shop.between(0.26, 0.34)};
  const float middle = 2 * leg + 0.85F * torso.z, shoulder = middle + 0.6F * torso.z;
  shop.add(PartShape::cylinder_z, {stride, 0.13F, leg}, {thick, thick, leg});
  shop.add(PartShape::cylinder_z, {-stride, -0.13F, leg}, {thick, thick, leg});
  shop.add(shop.choice(2) == 0 ? PartShape::ellipsoid : PartShape::cylinder_z, {0, 0, middle},
           torso);
  const float head = shop.between(0.13, 0.17), arm = shop.between(0.22, 0.3);
  shop.add(PartShape::ellipsoid, {0, 0, middle + torso.z + 0.9F * head},
           {head, head, 1.15F * head});
  const float side = torso.y + 0.05F;
  switch (shop.choice(3)) {  // arms down, spread, or held out
    case 0:
      shop.add_pair(PartShape::cylinder_z, {0, side, shoulder - 0.8F * arm}, {0.06F, 0.06F, arm});
      break;
    case 1:
      shop.add_pair(PartShape::cylinder_y, {0, side + 0.8F * arm, shoulder}, {0.06F, arm, 0.06F});
      break;
    default:
      shop.add_pair(PartShape::cylinder_x, {0.8F * arm, side, shoulder}, {arm, 0.06F, 0.06F});
  }
  if (shop.choice(2) == 0)  // a hat
    shop.add(PartShape::cylinder_z, {0, 0, middle + torso.z + 1.7F * head},
             {1.3F * head, 1.3F * head, 0.04F});
}

void build_plane(Workshop& shop) {
  const float length = shop.between(0.65, 0.9), thick = shop.between(0.09, 0.16);
  const float height = shop.between(0.35, 0.45);
  shop.add(PartShape::ellipsoid, {0, 0, height}, {length, thick, thick});
  const float place = shop.between(-0.1, 0.2), chord = shop.between(0.1, 0.2);
  const float span = shop.between(0.6, 0.9), lift = shop.between(-0.7, 0.9) * thick;
  shop.add(PartShape::box, {place, 0, height + lift}, {chord, span, 0.025F});
  if (shop.choice(4) == 0)  // a biplane
    shop.add(PartShape::box, {place, 0, height + lift + 0.28F}, {chord, span, 0.025F});
  const float tail = -0.85F * length, fin = shop.between(0.12, 0.2);
  shop.add(PartShape::box, {tail, 0, height + 0.05F}, {0.09F, shop.between(0.2, 0.32), 0.02F});
  shop.add(PartShape::box, {tail, 0, height + fin}, {0.1F, 0.02F, fin});
  const int engines = shop.choice(3);  // pairs of them
  for (int i = 0; i < engines; ++i)
    shop.add_pair(
        PartShape::cylinder_x,
        {place + chord, (0.35F + 0.25F * static_cast<float>(i)) * span, height + lift - 0.07F},
        {0.14F, 0.06F, 0.06F});
  shop.add(PartShape::cylinder_z, {0.1F, 0, 0.5F * height},
           {0.05F, 0.05F, 0.5F * height});  // a stand
}

void add_wheels(Workshop& shop, std::initializer_list<float> axles, float side, float radius) {
  for (const float x : axles)
    shop.add_pair(PartShape::cylinder_y, {x, side, radius}, {radius, 0.06F, radius});
}

void build_truck(Workshop& shop) {
  const float width = shop.between(0.24, 0.32), radius = shop.between(0.11, 0.16);
  const float floor = 1.2F * radius, length = shop.between(0.65, 0.85);
  shop.add(PartShape::box, {0, 0, floor + 0.05F}, {length, width, 0.05F});
  const float cab = shop.between(0.14, 0.2), cab_height = shop.between(0.2, 0.3);
  shop.add(PartShape::box, {length - cab, 0, floor + 0.1F + cab_height}, {cab, width, cab_height});
  const float load = length - cab - 0.05F, load_height = shop.between(0.15, 0.36);
  const Point3 place{-cab - 0.05F, 0, floor + 0.1F + load_height};
  switch (shop.choice(3)) {  // a box, a tank, or an open bed with a crane
    case 0:
      shop.add(PartShape::box, place, {load, 1.05F * width, load_height});
      break;
    case 1:
      shop.add(PartShape::cylinder_x, place, {load, 0.95F * width, load_height});
      break;
    default:
      shop.add(PartShape::box, {place.x, 0, floor + 0.15F}, {load, width, 0.08F});
      shop.add(PartShape::cylinder_z, {place.x, 0, 0.6F}, {0.07F, 0.07F, 0.35F});
      shop.add(PartShape::box, {place.x - 0.2F, 0, 0.95F}, {0.35F, 0.06F, 0.06F});
  }
  if (shop.choice(2) == 0)
    add_wheels(shop, {0.65F * length, -0.65F * length}, width, radius);
  else
    add_wheels(shop, {0.65F * length, -0.35F * length, -0.75F * length}, width, radius);
}

void build_car(Workshop& shop) {
  const float width = shop.between(0.26, 0.34), radius = shop.between(0.12, 0.17);
  const float length = shop.between(0.6, 0.8), body = shop.between(0.09, 0.15);
  const float floor = 0.9F * radius;
  shop.add(PartShape::box, {0, 0, floor + body}, {length, width, body});
  const float roof = shop.between(0.13, 0.22), place = shop.between(-0.2, 0.1);
  const Point3 cabin{shop.between(0.28, 0.42), 0.88F * width, roof};
  const float belt = floor + 2 * body;
  if (shop.choice(2) == 0)
    shop.add(PartShape::ellipsoid, {place, 0, belt}, {1.2F * cabin.x, cabin.y, 1.3F * roof});
  else
    shop.add(PartShape::box, {place, 0, belt + 0.8F * roof}, {cabin.x, cabin.y, 0.8F * roof});
  if (shop.choice(3) == 0)  // a spoiler
    shop.add(PartShape::box, {-0.95F * length, 0, belt + 0.12F}, {0.06F, width, 0.02F});
  add_wheels(shop, {0.62F * length, -0.62F * length}, width, radius);
}

}  // namespace

Toy make_toy(ToyCategory category, int instance) {
  constexpr void (*kBuild[])(Workshop&) = {build_animal, build_human, build_plane, build_truck,
                                           build_car};
  const auto kind = static_cast<std::size_t>(category);
  Workshop shop(make_key(1, "norb-toy", fmt::format("{} {}", kind, instance)));
  kBuild[kind](shop);
  return shop.finish();
}

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

}  // namespace boltzmark::experiments
