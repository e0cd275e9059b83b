#pragma once

#include <cmath>
#include <optional>
#include <vector>

namespace boltzmark::experiments {

/// A point or direction; x forward, y to the left, z up. Its arithmetic is spelt out, so that images
/// are the same bytes whatever a compiler makes of a library's sums.
struct Point3 {
  float x = 0, y = 0, z = 0;

  friend Point3 operator+(Point3 a, Point3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Point3 operator-(Point3 a, Point3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Point3 operator*(float s, Point3 a) { return {s * a.x, s * a.y, s * a.z}; }
  /// Multiplies and divides axis by axis.
  friend Point3 operator*(Point3 a, Point3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
  friend Point3 operator/(Point3 a, Point3 b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
};
inline float dot(Point3 a, Point3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Point3 unit_vector(Point3 a) { return (1 / std::sqrt(dot(a, a))) * a; }

/// The points origin + t direction, t > 0.
struct Ray {
  Point3 origin, direction;
  Point3 at(float t) const { return origin + t * direction; }
};

/// A convex part of a solid, within centre +- half: an ellipsoid, a box, or a cylinder along an axis.
struct Part {
  enum class Shape { ellipsoid, box, cylinder_x, cylinder_y, cylinder_z };
  Shape shape = Shape::box;
  Point3 centre, half;
};

/// Where a ray meets a surface from outside.
struct Hit {
  float t = 0;
  Point3 normal;  ///< of length 1
};

/// A union of parts.
class Solid {
 public:
  explicit Solid(std::vector<Part> parts);

  const std::vector<Part>& parts() const { return parts_; }
  /// Finds the first hit of a ray whose origin is outside.
  std::optional<Hit> first_hit(const Ray& ray) const;
  /// Tells whether a ray hits anything.
  bool stops(const Ray& ray) const;

 private:
  bool may_hit(const Ray& ray) const;

  std::vector<Part> parts_;
  Point3 centre_;  ///< of a sphere that holds all parts
  float square_radius_ = 0;
};

}  // namespace boltzmark::experiments
