#include "boltzmark/io/datasets/toy_objects.hpp"

#include <fmt/format.h>

#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

using Shape = Part::Shape;

/// Builds a toy out of parts whose sizes are drawn.
class Workshop {
 public:
  explicit Workshop(StreamKey key) : stream_(key, Purpose::data) {}

  float between(double low, double high) { return static_cast<float>(stream_.uniform(low, high)); }
  int choice(int count) {
    return static_cast<int>(stream_.below(static_cast<std::uint64_t>(count)));
  }
  void add(Shape shape, Point3 centre, Point3 half) { parts_.push_back({shape, centre, half}); }
  /// Adds a part and its mirror image on the other side.
  void add_pair(Shape shape, Point3 centre, Point3 half) {
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
  shop.add(Shape::ellipsoid, {0, 0, middle}, body);
  for (const float x : {0.62F, -0.62F})
    shop.add_pair(Shape::cylinder_z, {x * body.x, 0.55F * body.y, leg}, {thick, thick, leg});
  const float neck = shop.between(0.05, 0.32), head = shop.between(0.11, 0.18);
  shop.add(Shape::ellipsoid, {0.85F * body.x, 0, middle + neck}, {0.1F, 0.09F, neck + 0.12F});
  const Point3 skull{0.9F * body.x + 0.6F * head, 0, middle + 2 * neck};
  shop.add(Shape::ellipsoid, skull, {1.4F * head, 0.8F * head, head});
  shop.add_pair(Shape::ellipsoid, skull + Point3{-0.6F * head, 0.6F * head, head},
                {0.05F, 0.04F, shop.between(0.06, 0.16)});
  shop.add(Shape::ellipsoid, {-1.05F * body.x, 0, middle + 0.05F},
           {shop.between(0.1, 0.25), 0.04F, 0.05F});
}

void build_human(Workshop& shop) {
  const float leg = shop.between(0.26, 0.36), thick = shop.between(0.07, 0.11);
  const float stride = shop.between(0, 0.16);
  const Point3 torso{shop.between(0.12, 0.18), shop.between(0.2, 0.3), shop.between(0.26, 0.34)};
  const float middle = 2 * leg + 0.85F * torso.z, shoulder = middle + 0.6F * torso.z;
  shop.add(Shape::cylinder_z, {stride, 0.13F, leg}, {thick, thick, leg});
  shop.add(Shape::cylinder_z, {-stride, -0.13F, leg}, {thick, thick, leg});
  shop.add(shop.choice(2) == 0 ? Shape::ellipsoid : Shape::cylinder_z, {0, 0, middle}, torso);
  const float head = shop.between(0.13, 0.17), arm = shop.between(0.22, 0.3);
  shop.add(Shape::ellipsoid, {0, 0, middle + torso.z + 0.9F * head}, {head, head, 1.15F * head});
  const float side = torso.y + 0.05F;
  switch (shop.choice(3)) {  // arms down, spread, or held out
    case 0:
      shop.add_pair(Shape::cylinder_z, {0, side, shoulder - 0.8F * arm}, {0.06F, 0.06F, arm});
      break;
    case 1:
      shop.add_pair(Shape::cylinder_y, {0, side + 0.8F * arm, shoulder}, {0.06F, arm, 0.06F});
      break;
    default:
      shop.add_pair(Shape::cylinder_x, {0.8F * arm, side, shoulder}, {arm, 0.06F, 0.06F});
  }
  if (shop.choice(2) == 0)  // a hat
    shop.add(Shape::cylinder_z, {0, 0, middle + torso.z + 1.7F * head},
             {1.3F * head, 1.3F * head, 0.04F});
}

void build_plane(Workshop& shop) {
  const float length = shop.between(0.65, 0.9), thick = shop.between(0.09, 0.16);
  const float height = shop.between(0.35, 0.45);
  shop.add(Shape::ellipsoid, {0, 0, height}, {length, thick, thick});
  const float place = shop.between(-0.1, 0.2), chord = shop.between(0.1, 0.2);
  const float span = shop.between(0.6, 0.9), lift = shop.between(-0.7, 0.9) * thick;
  shop.add(Shape::box, {place, 0, height + lift}, {chord, span, 0.025F});
  if (shop.choice(4) == 0)  // a biplane
    shop.add(Shape::box, {place, 0, height + lift + 0.28F}, {chord, span, 0.025F});
  const float tail = -0.85F * length, fin = shop.between(0.12, 0.2);
  shop.add(Shape::box, {tail, 0, height + 0.05F}, {0.09F, shop.between(0.2, 0.32), 0.02F});
  shop.add(Shape::box, {tail, 0, height + fin}, {0.1F, 0.02F, fin});
  const int engines = shop.choice(3);  // pairs of them
  for (int i = 0; i < engines; ++i)
    shop.add_pair(
        Shape::cylinder_x,
        {place + chord, (0.35F + 0.25F * static_cast<float>(i)) * span, height + lift - 0.07F},
        {0.14F, 0.06F, 0.06F});
  shop.add(Shape::cylinder_z, {0.1F, 0, 0.5F * height}, {0.05F, 0.05F, 0.5F * height});  // a stand
}

void add_wheels(Workshop& shop, std::initializer_list<float> axles, float side, float radius) {
  for (const float x : axles)
    shop.add_pair(Shape::cylinder_y, {x, side, radius}, {radius, 0.06F, radius});
}

void build_truck(Workshop& shop) {
  const float width = shop.between(0.24, 0.32), radius = shop.between(0.11, 0.16);
  const float floor = 1.2F * radius, length = shop.between(0.65, 0.85);
  shop.add(Shape::box, {0, 0, floor + 0.05F}, {length, width, 0.05F});
  const float cab = shop.between(0.14, 0.2), cab_height = shop.between(0.2, 0.3);
  shop.add(Shape::box, {length - cab, 0, floor + 0.1F + cab_height}, {cab, width, cab_height});
  const float load = length - cab - 0.05F, load_height = shop.between(0.15, 0.36);
  const Point3 place{-cab - 0.05F, 0, floor + 0.1F + load_height};
  switch (shop.choice(3)) {  // a box, a tank, or an open bed with a crane
    case 0:
      shop.add(Shape::box, place, {load, 1.05F * width, load_height});
      break;
    case 1:
      shop.add(Shape::cylinder_x, place, {load, 0.95F * width, load_height});
      break;
    default:
      shop.add(Shape::box, {place.x, 0, floor + 0.15F}, {load, width, 0.08F});
      shop.add(Shape::cylinder_z, {place.x, 0, 0.6F}, {0.07F, 0.07F, 0.35F});
      shop.add(Shape::box, {place.x - 0.2F, 0, 0.95F}, {0.35F, 0.06F, 0.06F});
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
  shop.add(Shape::box, {0, 0, floor + body}, {length, width, body});
  const float roof = shop.between(0.13, 0.22), place = shop.between(-0.2, 0.1);
  const Point3 cabin{shop.between(0.28, 0.42), 0.88F * width, roof};
  const float belt = floor + 2 * body;
  if (shop.choice(2) == 0)
    shop.add(Shape::ellipsoid, {place, 0, belt}, {1.2F * cabin.x, cabin.y, 1.3F * roof});
  else
    shop.add(Shape::box, {place, 0, belt + 0.8F * roof}, {cabin.x, cabin.y, 0.8F * roof});
  if (shop.choice(3) == 0)  // a spoiler
    shop.add(Shape::box, {-0.95F * length, 0, belt + 0.12F}, {0.06F, width, 0.02F});
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

}  // namespace boltzmark
