// Metric depth from a PPM image and a csv of readings, by a file of `mrac export`: onnxruntime and the standard library.
// Usage: calibrate pipeline.onnx image.ppm anchors.csv depth.pfm
#include <onnxruntime_cxx_api.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

// Binary PPM (P6), 8 bits, no comments: exactly the size that the file was exported for.
std::vector<uint8_t> read_ppm(const char* path, int64_t height, int64_t width) {
    std::ifstream file(path, std::ios::binary);
    std::string magic;
    int64_t w = 0, h = 0, most = 0;
    file >> magic >> w >> h >> most;
    file.get();
    std::vector<uint8_t> pixels(height * width * 3);
    if (magic != "P6" || w != width || h != height || most != 255 ||
        !file.read(reinterpret_cast<char*>(pixels.data()), pixels.size()))
        throw std::runtime_error(std::string(path) + ": a P6 of " + std::to_string(width) + " x " +
                                 std::to_string(height) + " is needed; `mrac export --size` sets it");
    return pixels;
}

// Lines of u_px,v_px,z_m, with or without a line of names; returns how many there are.
int64_t read_csv(const char* path, std::vector<float>& anchors) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be read");
    size_t used = 0;
    for (std::string line; std::getline(file, line);) {
        float u, v, z;
        if (std::sscanf(line.c_str(), "%f,%f,%f", &u, &v, &z) != 3) continue;
        if (used + 3 > anchors.size()) throw std::runtime_error("too many readings; see `mrac export --max-anchors`");
        anchors[used++] = u, anchors[used++] = v, anchors[used++] = z;
    }
    return used / 3;
}

int main(int argc, char** argv) try {
    if (argc != 5) throw std::runtime_error("usage: calibrate pipeline.onnx image.ppm anchors.csv depth.pfm");
    Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "mrac");
    Ort::Session session(env, argv[1], Ort::SessionOptions{});
    auto shape = [&](size_t i) { return session.GetInputTypeInfo(i).GetTensorTypeAndShapeInfo().GetShape(); };
    const auto image_shape = shape(0), anchors_shape = shape(1), count_shape = shape(2);
    auto image = read_ppm(argv[2], image_shape[0], image_shape[1]);
    std::vector<float> anchors(anchors_shape[0] * 3, 0.0f);
    int64_t count = read_csv(argv[3], anchors);
    const auto cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    std::array<Ort::Value, 3> inputs{
        Ort::Value::CreateTensor<uint8_t>(cpu, image.data(), image.size(), image_shape.data(), image_shape.size()),
        Ort::Value::CreateTensor<float>(cpu, anchors.data(), anchors.size(), anchors_shape.data(), anchors_shape.size()),
        Ort::Value::CreateTensor<int64_t>(cpu, &count, 1, count_shape.data(), count_shape.size())};
    const char* in[] = {"image", "anchors", "count"};
    const char* out[] = {"depth_m", "outlier_probability", "status"};
    auto results = session.Run(Ort::RunOptions{}, in, inputs.data(), 3, out, 3);
    const float *depth_m = results[0].GetTensorData<float>(), *outlier = results[1].GetTensorData<float>();
    std::ofstream file(argv[4], std::ios::binary);
    file << "Pf\n" << image_shape[1] << " " << image_shape[0] << "\n-1.0\n";  // -1: little endian
    for (int64_t v = image_shape[0] - 1; v >= 0; --v)  // PFM starts at the lowest row
        file.write(reinterpret_cast<const char*>(depth_m + v * image_shape[1]), image_shape[1] * sizeof(float));
    if (!file.flush()) throw std::runtime_error(std::string(argv[4]) + ": cannot be written");
    int kept = 0;
    for (int64_t k = 0; k < count; ++k) kept += outlier[k] < 0.5f;
    std::printf("%d of %d readings kept, status %d\n", kept, static_cast<int>(count),
                static_cast<int>(results[2].GetTensorData<int64_t>()[0]));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate: %s\n", error.what());
    return 1;
}
