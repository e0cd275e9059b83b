#include "experiments/kit/datasets/solid.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace boltzmark::experiments {
namespace {

constexpr float kNowhere = std::numeric_limits<float>::infinity();

/// The t between which a line is inside a convex body, and the normal where it enters.
struct Span {
  float enter = -kNowhere;
  float leave = kNowhere;
  Point3 normal;

  bool is_empty() const { return !(enter < leave); }
  void intersect(const Span& other) {
    if (other.enter > enter) {
      enter = other.enter;
      normal = other.normal;
    }
    leave = std::min(leave, other.leave);
  }
};

constexpr Span kOutside{.enter = kNowhere, .leave = -kNowhere, .normal = {}};

// Of -1 <= origin + t direction <= 1 on one axis; normals here and below are not of length 1.
Span slab(float origin, float direction, Point3 axis) {
  if (direction == 0) return std::abs(origin) < 1 ? Span() : kOutside;
  const float low = (-1 - origin) / direction, high = (1 - origin) / direction;
  return {std::min(low, high), std::max(low, high), direction > 0 ? -1 * axis : axis};
}

// Of |p|^2 <= 1, the axes that a mask leaves out not counted.
Span ball(const Ray& ray, Point3 mask) {
  const Point3 origin = mask * ray.origin, direction = mask * ray.direction;
  const float a = dot(direction, direction), b = dot(origin, direction),
              c = dot(origin, origin) - 1;
  if (a == 0) return c < 0 ? Span() : kOutside;
  const float discriminant = b * b - a * c;
  if (!(discriminant > 0)) return kOutside;
  const float root = std::sqrt(discriminant);
  const float enter = (-b - root) / a;
  return {enter, (-b + root) / a, origin + enter * direction};
}

bool meets_ball(const Ray& ray, Point3 centre, float square_radius) {
  const Point3 origin = ray.origin - centre;
  const float a = dot(ray.direction, ray.direction), b = dot(origin, ray.direction);
  return b * b >= a * (dot(origin, origin) - square_radius);
}

// Most rays miss most parts: a ball about the part tells that soonest. It is larger than rounding
// needs, so that no ray's hit depends on it.
bool may_meet(const Ray& ray, const Part& part) {
  const Point3& half = part.half;
  const float largest = std::max({half.x, half.y, half.z});
  const float square = part.shape == Part::Shape::ellipsoid ? largest * largest : dot(half, half);
  return meets_ball(ray, part.centre, 1.02F * square + 1e-3F);
}

Span span_of(const Part& part, const Ray& ray) {
  using Shape = Part::Shape;
  if (!may_meet(ray, part)) return kOutside;
  const Ray scaled{(ray.origin - part.centre) / part.half, ray.direction / part.half};
  if (part.shape == Shape::ellipsoid) return ball(scaled, {1, 1, 1});
  const bool box = part.shape == Shape::box, x = box || part.shape == Shape::cylinder_x,
             y = box || part.shape == Shape::cylinder_y, z = box || part.shape == Shape::cylinder_z;
  const auto across = [](bool along) { return along ? 0.0F : 1.0F; };
  const auto [o, d] = scaled;
  Span span = box ? Span() : ball(scaled, {across(x), across(y), across(z)});
  if (x) span.intersect(slab(o.x, d.x, {1, 0, 0}));
  if (y) span.intersect(slab(o.y, d.y, {0, 1, 0}));
  if (z) span.intersect(slab(o.z, d.z, {0, 0, 1}));
  return span;
}

bool is_ahead(const Span& span) { return !span.is_empty() && span.enter > 0; }

}  // namespace

Solid::Solid(std::vector<Part> parts) : parts_(std::move(parts)) {
  Point3 low{kNowhere, kNowhere, kNowhere}, high = -1 * low;
  for (const Part& part : parts_) {
    const Point3 least = part.centre - part.half, most = part.centre + part.half;
    low = {std::min(low.x, least.x), std::min(low.y, least.y), std::min(low.z, least.z)};
    high = {std::max(high.x, most.x), std::max(high.y, most.y), std::max(high.z, most.z)};
  }
  centre_ = 0.5F * (low + high);
  square_radius_ = dot(high - centre_, high - centre_);
}

bool Solid::may_hit(const Ray& ray) const { return meets_ball(ray, centre_, square_radius_); }

std::optional<Hit> Solid::first_hit(const Ray& ray) const {
  if (!may_hit(ray)) return std::nullopt;
  const Part* first = nullptr;
  Span nearest = kOutside;
  for (const Part& part : parts_)
    if (const Span span = span_of(part, ray); is_ahead(span) && span.enter < nearest.enter) {
      nearest = span;
      first = &part;
    }
  if (first == nullptr) return std::nullopt;
  return Hit{nearest.enter, unit_vector(nearest.normal / first->half)};
}

bool Solid::stops(const Ray& ray) const {
  return may_hit(ray) && std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
           return is_ahead(span_of(part, ray));
         });
}

}  // namespace boltzmark::experiments
