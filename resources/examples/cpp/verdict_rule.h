// Verdict rule of a segmentation, from the metadata of a line model: the same verdicts as Defect Workbench. C++17.
//
//     VerdictRule rule(property);     property(key): value of the metadata, such as LineModel::property
//     rule.verdict(class_map, scores, height, width, edge_distance, zones)
//
// class_map: output of the model. scores: for each pixel 255 times the greatest probability of a class, rounded.
// edge_distance, zones: outputs of the model of these names; empty if it has none.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

class VerdictRule {
    static constexpr double kClose = 1e-6;  // pixels

public:
    using Property = std::function<std::string(const char*)>;

    explicit VerdictRule(const Property& property) : kind_(property("verdict_rule")) {
        const auto ids = lines(property("class_ids")), names = lines(property("class_names"));
        const auto areas = lines(property("min_areas_px"));
        for (size_t n = 0; n < ids.size(); ++n) {
            names_[std::stoi(ids[n])] = names.at(n);
            min_areas_[std::stoi(ids[n])] = std::stoi(areas.at(n));
        }
        if (!exists()) return;
        good_ = property("verdict_good");
        bad_ = property("verdict_bad");
        mass_ = std::stod(property("verdict_anomaly_score"));
        has_unsure_ = !property("verdict_unsure_score").empty();
        if (has_unsure_) unsure_ = std::stod(property("verdict_unsure_score"));
        exponent_ = std::stod(property("anomaly_exponent"));
        border_ = std::stoi(property("verdict_border_px"));
        border_exponent_ = std::stoi(property("border_exponent"));
        for (const std::string& line : lines(property("verdict_limits"))) {
            Limit limit;
            std::istringstream words(line);
            words >> limit.class_id >> limit.most >> limit.outcome;
            for (std::string word; words >> word;) {
                const size_t at = word.find('=');
                limit.conditions[word.substr(0, at)] = std::stod(word.substr(at + 1));
            }
            limits_.push_back(limit);
        }
    }

    bool exists() const { return !kind_.empty() && kind_ != "none"; }

    std::string verdict(const std::vector<uint8_t>& class_map, const std::vector<uint8_t>& scores, int height,
                        int width, const std::vector<float>& edge_distance = {},
                        const std::vector<uint8_t>& zones = {}) const {
        const auto regions = find_regions(class_map, scores, height, width, edge_distance, zones);
        double score = 0;
        for (const Region& region : regions) score += region.mass;
        score = rounded(score);
        std::vector<char> deciding(regions.size(), kind_ == "mass");
        std::string outcome;
        if (kind_ == "mass") {
            if (mass_ > 0 ? score > mass_ : !regions.empty()) outcome = "reject";
        } else {
            for (const std::string worst : {"reject", "rework", "unsure"}) {
                for (const Limit& limit : limits_) {
                    const auto found = matches(limit, regions);
                    if (limit.outcome != worst || std::count(found.begin(), found.end(), 1) <= limit.most) continue;
                    outcome = worst;
                    for (size_t n = 0; n < found.size(); ++n) deciding[n] |= found[n];
                }
                if (!outcome.empty()) break;
            }
        }
        if (outcome.empty() && has_unsure_ && (unsure_ > 0 ? score > unsure_ : !regions.empty())) return "unsure";
        if (outcome.empty()) return good_;
        return outcome != "reject" ? outcome : !bad_.empty() ? bad_ : heaviest_class(regions, deciding);
    }

private:
    struct Run {
        int row, first, end;  // end: column after the last pixel
    };
    struct Region {
        int class_id = 0;
        double area = 0, peak = 0, mass = 0, edge = 0, length = 0, width = 0;
        std::vector<Run> runs;
        std::vector<char> zones;  // 1 for each zone in which the region has a pixel
    };
    struct Limit {
        int class_id = 0, most = 0;
        std::string outcome;
        std::map<std::string, double> conditions;
    };

    static std::vector<std::string> lines(const std::string& text) {
        std::vector<std::string> found;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) found.push_back(line);
        return found;
    }

    static double rounded(double mass) {  // as Defect Workbench states scores
        char text[64];
        std::snprintf(text, sizeof text, mass >= 0.1 ? "%.3f" : "%.4g", mass);
        return std::stod(text);
    }

    std::vector<Region> find_regions(const std::vector<uint8_t>& class_map, const std::vector<uint8_t>& scores,
                                     int height, int width, const std::vector<float>& edge_distance,
                                     const std::vector<uint8_t>& zones) const {
        std::vector<Region> regions;
        std::vector<char> seen(class_map.size());
        std::vector<int> pixels;
        for (int start = 0; start < height * width; ++start) {
            const int id = class_map[start];
            if (id == 0 || seen[start] || !names_.count(id)) continue;
            pixels.assign(1, start);
            seen[start] = 1;
            for (size_t n = 0; n < pixels.size(); ++n) {  // the 8 neighbors
                const int y = pixels[n] / width, x = pixels[n] % width;
                for (int row = std::max(0, y - 1); row <= std::min(height - 1, y + 1); ++row)
                    for (int column = std::max(0, x - 1); column <= std::min(width - 1, x + 1); ++column) {
                        const int at = row * width + column;
                        if (!seen[at] && class_map[at] == id) {
                            seen[at] = 1;
                            pixels.push_back(at);
                        }
                    }
            }
            if (int(pixels.size()) < min_areas_.at(id)) continue;
            std::sort(pixels.begin(), pixels.end());
            Region region;
            region.class_id = id;
            region.zones.assign(zones.size() / class_map.size(), 0);
            double weight = 0, edge = std::numeric_limits<double>::infinity();
            for (int at : pixels) {
                const int y = at / width, x = at % width;
                if (!region.runs.empty() && region.runs.back().row == y && region.runs.back().end == x)
                    ++region.runs.back().end;
                else
                    region.runs.push_back({y, x, x + 1});
                for (size_t zone = 0; zone < region.zones.size(); ++zone)
                    region.zones[zone] |= zones[zone * class_map.size() + at];
                if (!edge_distance.empty()) edge = std::min(edge, double(edge_distance[at]));
                if (y < border_ || x < border_ || y >= height - border_ || x >= width - border_) continue;
                edge = std::min(edge, double(std::min({x, y, width - 1 - x, height - 1 - y})));
                region.area += 1;
                region.peak = std::max(region.peak, scores[at] / 255.0);
                weight += std::pow(scores[at] / 255.0, exponent_);
            }
            if (region.area == 0) continue;
            region.mass = weight * std::pow(region.area / double(pixels.size()), border_exponent_);
            region.edge = edge;
            std::tie(region.length, region.width) = feret(region.runs);
            regions.push_back(std::move(region));
        }
        return regions;
    }

    // Greatest and least distance of two parallel lines that enclose the pixels.
    static std::pair<double, double> feret(const std::vector<Run>& runs) {
        using Point = std::pair<double, double>;
        std::vector<Point> points, hull;
        for (const Run& run : runs)
            for (int x : {run.first, run.end})
                for (int y : {run.row, run.row + 1}) points.emplace_back(x, y);
        std::sort(points.begin(), points.end());
        const auto cross = [](const Point& a, const Point& b, const Point& c) {
            return (b.first - a.first) * (c.second - a.second) - (b.second - a.second) * (c.first - a.first);
        };
        for (int side = 0; side < 2; ++side) {  // lower and upper half of the convex hull
            const size_t least = hull.size() + 2;
            for (const Point& point : points) {
                while (hull.size() >= least && cross(hull[hull.size() - 2], hull.back(), point) <= 0) hull.pop_back();
                hull.push_back(point);
            }
            hull.pop_back();
            std::reverse(points.begin(), points.end());
        }
        double length = 0, width = std::numeric_limits<double>::infinity();
        for (size_t n = 0; n < hull.size(); ++n) {
            const Point &a = hull[n], &b = hull[(n + 1) % hull.size()];
            double farthest = 0;
            for (const Point& point : hull) {
                length = std::max(length, std::hypot(point.first - a.first, point.second - a.second));
                farthest = std::max(farthest, cross(a, b, point));
            }
            width = std::min(width, farthest / std::hypot(b.first - a.first, b.second - a.second));
        }
        return {length, width};
    }

    static double distance(const Region& one, const Region& other) {
        double least = std::numeric_limits<double>::infinity();
        for (const Run& a : one.runs)
            for (const Run& b : other.runs)
                least = std::min(least, std::hypot(std::max({0, b.first - a.end + 1, a.first - b.end + 1}), a.row - b.row));
        return least;
    }

    static std::vector<char> matches(const Limit& limit, const std::vector<Region>& regions) {
        const auto& given = limit.conditions;
        const auto from = [&](const char* key, double value, double close = kClose) {
            return given.count(key) && value >= given.at(key) - close;
        };
        const auto allows = [&](const char* key, double value) { return !given.count(key) || from(key, value); };
        std::vector<char> found;
        for (const Region& region : regions) {
            const bool either = given.count("area") || given.count("probability");
            found.push_back((limit.class_id == 0 || limit.class_id == region.class_id) &&
                            (!either || from("area", region.area) || from("probability", region.peak, 1e-9)) &&
                            !from("area_below", region.area) && allows("length", region.length) &&
                            !from("length_below", region.length) && allows("width", region.width) &&
                            !from("width_below", region.width) && !from("edge", region.edge) &&
                            allows("inner", region.edge) &&
                            (!given.count("zone") || region.zones.at(size_t(given.at("zone")))));
        }
        if (!given.count("apart")) return found;
        std::vector<char> close(found.size());
        for (size_t one = 0; one < found.size(); ++one)
            for (size_t other = one + 1; other < found.size(); ++other)
                if (found[one] && found[other] && distance(regions[one], regions[other]) < given.at("apart") - kClose)
                    close[one] = close[other] = 1;
        return close;
    }

    std::string heaviest_class(const std::vector<Region>& regions, const std::vector<char>& deciding) const {
        std::map<int, double> masses;
        for (size_t n = 0; n < regions.size(); ++n)
            if (deciding[n]) masses[regions[n].class_id] += regions[n].mass;
        const auto heaviest = std::max_element(masses.begin(), masses.end(),
                                               [](const auto& a, const auto& b) { return a.second < b.second; });
        return heaviest == masses.end() ? "NG" : names_.at(heaviest->first);
    }

    std::string kind_, good_, bad_;
    double mass_ = 0, unsure_ = 0, exponent_ = 1;
    bool has_unsure_ = false;
    int border_ = 0, border_exponent_ = 0;
    std::map<int, std::string> names_;
    std::map<int, int> min_areas_;
    std::vector<Limit> limits_;
};
