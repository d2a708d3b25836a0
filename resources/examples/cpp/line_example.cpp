// Runs the line model of an export with ONNX Runtime.
//
//     line_example LINE_FOLDER              test the model with its reference image; exit status 0 if it agrees
//     line_example LINE_FOLDER IMAGE...     print the area of each class, the verdict, or both, of each image
//
// LINE_FOLDER is the folder `line` of the export. The model contains all preprocessing: it reads the pixels of one image
// of a fixed size, as they are stored. Build: see CMakeLists.txt. C++17.
//
// Without OpenCV, images are binary PGM and PPM, 8 or 16 bits, and uncompressed BMP.

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "verdict_rule.h"

#ifdef LINE_EXAMPLE_OPENCV
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace fs = std::filesystem;

constexpr double kAgreement = 0.9999;    // least share of equal pixels of the reference map
constexpr double kProbability = 1e-4;    // largest difference of a probability

// Pixels by rows from the top, interleaved channels (1: gray, 3: RGB); 8-bit values are stored in 16 bits here.
struct Image {
    int64_t height = 0, width = 0, channels = 0;
    int bits = 8;
    std::vector<uint16_t> values;
};

// --- reading of images ---------------------------------------------------------------------------------

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + " cannot be opened");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Next whole number of a PNM header, after white space and comments.
int64_t header_number(const std::string& data, size_t& at) {
    while (at < data.size() && (std::isspace(static_cast<unsigned char>(data[at])) || data[at] == '#')) {
        if (data[at] == '#') at = std::min(data.find('\n', at), data.size() - 1);
        ++at;
    }
    int64_t number = -1;
    for (; at < data.size() && data[at] >= '0' && data[at] <= '9' && number < 100000000; ++at)
        number = std::max<int64_t>(number, 0) * 10 + (data[at] - '0');
    if (number < 0) throw std::runtime_error("damaged header");
    return number;
}

Image read_pnm(const std::string& data) {
    Image image;
    image.channels = data[1] == '6' ? 3 : 1;
    size_t at = 2;
    image.width = header_number(data, at);
    image.height = header_number(data, at);
    const int64_t maximum = header_number(data, at);
    if (maximum != 255 && maximum != 65535) throw std::runtime_error("the maximum value must be 255 or 65535");
    ++at;  // one white space ends the header
    image.bits = maximum == 255 ? 8 : 16;
    const size_t bytes = image.bits / 8, count = size_t(image.width) * image.height * image.channels;
    if (count == 0 || data.size() < at + count * bytes) throw std::runtime_error("the file is too short");
    image.values.resize(count);
    const auto* source = reinterpret_cast<const uint8_t*>(data.data()) + at;
    for (size_t n = 0; n < count; ++n)
        image.values[n] = bytes == 1 ? source[n] : uint16_t(source[2 * n] << 8 | source[2 * n + 1]);
    return image;
}

Image read_bmp(const std::string& data) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
    auto number = [&](size_t at) {  // little endian, 32 bits
        if (at + 4 > data.size()) throw std::runtime_error("the file is too short");
        return int32_t(uint32_t(bytes[at]) | uint32_t(bytes[at + 1]) << 8 | uint32_t(bytes[at + 2]) << 16 |
                       uint32_t(bytes[at + 3]) << 24);
    };
    const int64_t start = uint32_t(number(10)), palette = 14 + int64_t(uint32_t(number(14)));
    const int bits = number(28) & 0xffff;
    const int compression = number(30);
    Image image;
    image.width = number(18);
    image.height = std::abs(int64_t(number(22)));
    const bool upside_down = number(22) > 0;
    image.channels = bits == 8 ? 1 : 3;
    if ((bits != 8 && bits != 24 && bits != 32) || (compression != 0 && !(compression == 3 && bits == 32)))
        throw std::runtime_error("only uncompressed BMP of 8, 24 or 32 bits can be read");
    const int64_t step = (image.width * bits + 31) / 32 * 4;
    if (image.width <= 0 || image.height <= 0 || image.width > 100000 || image.height > 100000 ||
        start + step * image.height > int64_t(data.size()))
        throw std::runtime_error("the file is too short");
    for (int64_t y = 0; y < image.height; ++y) {
        const uint8_t* row = bytes + start + step * (upside_down ? image.height - 1 - y : y);
        for (int64_t x = 0; x < image.width; ++x) {
            if (bits == 8) {  // palette of gray values
                if (palette + 4 * int64_t(row[x]) + 4 > start) throw std::runtime_error("damaged palette");
                image.values.push_back(bytes[palette + 4 * row[x]]);
            } else {
                const uint8_t* pixel = row + x * (bits / 8);
                image.values.insert(image.values.end(), {pixel[2], pixel[1], pixel[0]});
            }
        }
    }
    return image;
}

Image read_image(const fs::path& path) {
    const std::string data = read_file(path);
    if (data.size() > 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6')) return read_pnm(data);
    if (data.size() > 54 && data[0] == 'B' && data[1] == 'M') return read_bmp(data);
#ifdef LINE_EXAMPLE_OPENCV
    const std::vector<uint8_t> bytes(data.begin(), data.end());
    cv::Mat mat = cv::imdecode(bytes, cv::IMREAD_ANYDEPTH | cv::IMREAD_ANYCOLOR);
    if (!mat.empty() && (mat.depth() == CV_8U || mat.depth() == CV_16U)) {
        if (mat.channels() == 3) cv::cvtColor(mat, mat, cv::COLOR_BGR2RGB);
        Image image{mat.rows, mat.cols, mat.channels(), mat.depth() == CV_8U ? 8 : 16, {}};
        mat.convertTo(mat, CV_16U);
        for (int y = 0; y < mat.rows; ++y)
            image.values.insert(image.values.end(), mat.ptr<uint16_t>(y),
                                mat.ptr<uint16_t>(y) + size_t(mat.cols) * mat.channels());
        return image;
    }
    throw std::runtime_error("the image cannot be decoded");
#else
    throw std::runtime_error("without OpenCV, only PGM, PPM and BMP can be read");
#endif
}

// --- model ---------------------------------------------------------------------------------------------

struct Result {
    std::vector<uint8_t> class_map;       // segmentation: class ids by pixel, 0 for the background
    std::vector<int32_t> class_areas;     // pixels by class
    std::vector<float> probabilities;     // classification: by verdict
    int verdict = -1;                     // classification: index, -1 if unsure
    std::string rule_verdict;             // segmentation: by the verdict rule, "" without one
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class LineModel {
public:
    explicit LineModel(const fs::path& path)
        : env_(ORT_LOGGING_LEVEL_ERROR, "line_example"), session_(env_, path.c_str(), Ort::SessionOptions{}) {
        const auto input = session_.GetInputTypeInfo(0);
        shape_ = input.GetTensorTypeAndShapeInfo().GetShape();  // 1, height, width, channels
        type_ = input.GetTensorTypeAndShapeInfo().GetElementType();
        if (shape_.size() != 4 || property("task").empty()) throw std::runtime_error("this is not a line model");
        is_segmentation_ = property("task") == "segmentation";
    }

    bool is_segmentation() const { return is_segmentation_; }

    // Value of the metadata, "" if it is missing. Lists have one line per entry.
    std::string property(const char* key) const {
        Ort::AllocatorWithDefaultOptions allocator;
        const auto value = session_.GetModelMetadata().LookupCustomMetadataMapAllocated(key, allocator);
        return value ? value.get() : "";
    }

    Result run(const Image& image) {
        check(image);
        std::vector<uint16_t> values = image.values;
        if (shape_[3] == 3 && image.channels == 1) {  // gray for a color model
            values.clear();
            for (uint16_t value : image.values) values.insert(values.end(), 3, value);
        }
        const std::vector<uint8_t> bytes(values.begin(), values.end());
        const bool wide = type_ == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
        const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
        auto input = wide ? Ort::Value::CreateTensor<uint16_t>(memory, values.data(), values.size(), shape_.data(), 4)
                          : Ort::Value::CreateTensor<uint8_t>(memory, const_cast<uint8_t*>(bytes.data()), bytes.size(),
                                                              shape_.data(), 4);
        const char* input_name = "image";
        // Only the requested outputs are copied: the probabilities of a whole image are large.
        std::vector<const char*> names =
            is_segmentation_ ? std::vector<const char*>{"class_map", "class_areas"}
                             : std::vector<const char*>{"verdict", "probabilities"};
        const VerdictRule rule([this](const char* key) { return property(key); });
        const bool has_rule = is_segmentation_ && rule.exists();
        const bool has_edge = has_rule && has_output("edge_distance"), has_zones = has_rule && has_output("zones");
        if (has_rule) names.push_back("probabilities");
        if (has_edge) names.push_back("edge_distance");
        if (has_zones) names.push_back("zones");
        const auto outputs =
            session_.Run(Ort::RunOptions{nullptr}, &input_name, &input, 1, names.data(), names.size());
        Result result;
        if (is_segmentation_) {
            result.class_map = copy_of<uint8_t>(outputs[0]);
            result.class_areas = copy_of<int32_t>(outputs[1]);
            if (has_rule)
                result.rule_verdict = rule.verdict(
                    result.class_map, scores_of(copy_of<float>(outputs[2])), int(shape_[1]), int(shape_[2]),
                    has_edge ? copy_of<float>(outputs[3]) : std::vector<float>(),
                    has_zones ? copy_of<uint8_t>(outputs.back()) : std::vector<uint8_t>());
        } else {
            result.verdict = copy_of<int32_t>(outputs[0]).at(0);
            result.probabilities = copy_of<float>(outputs[1]);
        }
        return result;
    }

private:
    bool has_output(const std::string& name) {
        Ort::AllocatorWithDefaultOptions allocator;
        for (size_t n = 0; n < session_.GetOutputCount(); ++n)
            if (name == session_.GetOutputNameAllocated(n, allocator).get()) return true;
        return false;
    }

    template <typename T>
    static std::vector<T> copy_of(const Ort::Value& value) {
        const T* data = value.GetTensorData<T>();
        return {data, data + value.GetTensorTypeAndShapeInfo().GetElementCount()};
    }

    // 255 times the greatest probability of a class. probabilities: by class, that of the background first.
    std::vector<uint8_t> scores_of(const std::vector<float>& probabilities) const {
        const size_t pixels = size_t(shape_[1] * shape_[2]);
        std::vector<uint8_t> scores(pixels);
        for (size_t n = pixels; n < probabilities.size(); ++n)
            scores[n % pixels] = std::max(scores[n % pixels], uint8_t(std::nearbyint(255 * probabilities[n])));
        return scores;
    }

    void check(const Image& image) const {
        const int bits = type_ == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 ? 16 : 8;
        std::ostringstream why;
        if (image.height != shape_[1] || image.width != shape_[2])
            why << "the image has " << image.height << "x" << image.width << " pixels, the model needs " << shape_[1]
                << "x" << shape_[2];
        else if (image.bits != bits)
            why << "the image has " << image.bits << " bits, the model needs " << bits;
        else if (image.channels != shape_[3] && image.channels != 1)
            why << "the image is in color, the model needs gray";
        if (!why.str().empty()) throw std::runtime_error(why.str());
    }

    Ort::Env env_;
    Ort::Session session_;
    std::vector<int64_t> shape_;
    ONNXTensorElementDataType type_;
    bool is_segmentation_ = false;
};

// --- output --------------------------------------------------------------------------------------------

void print(const LineModel& model, const std::string& name, const Result& result) {
    std::printf("%s\n", name.c_str());
    if (!model.is_segmentation()) {
        const auto verdicts = lines_of(model.property("verdicts"));
        std::printf("  verdict: %s\n", result.verdict < 0 ? "unsure" : verdicts.at(result.verdict).c_str());
        for (size_t n = 0; n < verdicts.size(); ++n)
            std::printf("  %s: probability %.4f\n", verdicts[n].c_str(), double(result.probabilities.at(n)));
        return;
    }
    if (!result.rule_verdict.empty()) std::printf("  verdict: %s\n", result.rule_verdict.c_str());
    const auto names = lines_of(model.property("class_names"));
    const std::string scale = model.property("um_per_pixel");
    for (size_t n = 0; n < names.size(); ++n) {
        std::printf("  %s: %d px", names[n].c_str(), int(result.class_areas.at(n)));
        if (!scale.empty()) std::printf(", %.1f um2", result.class_areas[n] * std::pow(std::stod(scale), 2));
        std::printf("\n");
    }
}

// Return the number of differences from the stored results of the reference image, each printed.
int test(LineModel& model, const fs::path& folder) {
    const bool gray = fs::exists(folder / "reference.pgm");
    const Result result = model.run(read_image(folder / (gray ? "reference.pgm" : "reference.ppm")));
    print(model, "reference image", result);
    int differences = 0;
    size_t pixels_allowed = 0;
    if (model.is_segmentation()) {
        const Image expected = read_image(folder / "reference_map.pgm");
        size_t different = expected.values.size() == result.class_map.size() ? 0 : expected.values.size();
        for (size_t n = 0; n < std::min(expected.values.size(), result.class_map.size()); ++n)
            different += expected.values[n] != result.class_map[n];
        pixels_allowed = size_t((1 - kAgreement) * expected.values.size());
        if (different > pixels_allowed) {
            std::printf("  the class map differs at %zu pixels\n", different);
            ++differences;
        }
    }
    const auto ids = lines_of(model.property("class_ids"));
    for (const std::string& line : lines_of(read_file(folder / "reference.txt"))) {
        std::istringstream stream(line);
        std::string what, key;
        double expected = 0, found = 0, allowed = 0;
        stream >> what >> key;
        if (what == "verdict") {
            expected = std::stod(key);
            found = result.verdict;
        } else if (what == "probability") {
            stream >> expected;
            found = result.probabilities.at(std::stoul(key));
            allowed = kProbability;
        } else {  // area
            stream >> expected;
            found = result.class_areas.at(std::find(ids.begin(), ids.end(), key) - ids.begin());
            allowed = double(pixels_allowed);
        }
        if (!(std::abs(found - expected) <= allowed)) {
            std::printf("  %s: found %g\n", line.c_str(), found);
            ++differences;
        }
    }
    std::printf(differences ? "The results DIFFER from the reference.\n" : "The results agree with the reference.\n");
    return differences;
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: line_example LINE_FOLDER [IMAGE...]\n");
        return 2;
    }
    try {
        const fs::path folder = fs::u8path(arguments[1]);
        if (!fs::exists(folder / "model.onnx"))
            throw std::runtime_error((folder / "model.onnx").string() +
                                     " does not exist: export the model with the format onnx-line");
        LineModel model(folder / "model.onnx");
        if (count == 2) return test(model, folder) ? 1 : 0;
        for (int n = 2; n < count; ++n) {
            try {
                print(model, arguments[n], model.run(read_image(fs::u8path(arguments[n]))));
            } catch (const std::exception& error) {
                throw std::runtime_error(std::string(arguments[n]) + ": " + error.what());
            }
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
