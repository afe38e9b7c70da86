// A unit of the tower in training: convolution, batch norm, sum and ReLU as one operation of libtorch, whose numbers come from
// crate cpu. libtorch's own gradients of these operations go through memory once for each of them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "message.h"

// As in unit.rs. Pointers of what there is not, or is not wanted, are null.
struct TengenUnit {
  int64_t positions, side, inputs, outputs;
  bool relu;
  const float *weight, *scale, *shift, *input, *residual;
  float *convolved, *mean, *variance, *output;
  const float* of_output;
  float *of_weight, *of_scale, *of_shift, *of_input, *of_residual;
};

// unit.rs asserts the same. Two fields of one type that change places would train wrongly without a fault.
static_assert(sizeof(TengenUnit) == 160);
static_assert(offsetof(TengenUnit, positions) == 0);
static_assert(offsetof(TengenUnit, side) == 8);
static_assert(offsetof(TengenUnit, inputs) == 16);
static_assert(offsetof(TengenUnit, outputs) == 24);
static_assert(offsetof(TengenUnit, relu) == 32);
static_assert(offsetof(TengenUnit, weight) == 40);
static_assert(offsetof(TengenUnit, scale) == 48);
static_assert(offsetof(TengenUnit, shift) == 56);
static_assert(offsetof(TengenUnit, input) == 64);
static_assert(offsetof(TengenUnit, residual) == 72);
static_assert(offsetof(TengenUnit, convolved) == 80);
static_assert(offsetof(TengenUnit, mean) == 88);
static_assert(offsetof(TengenUnit, variance) == 96);
static_assert(offsetof(TengenUnit, output) == 104);
static_assert(offsetof(TengenUnit, of_output) == 112);
static_assert(offsetof(TengenUnit, of_weight) == 120);
static_assert(offsetof(TengenUnit, of_scale) == 128);
static_assert(offsetof(TengenUnit, of_shift) == 136);
static_assert(offsetof(TengenUnit, of_input) == 144);
static_assert(offsetof(TengenUnit, of_residual) == 152);

// As in unit.rs.
enum class Done : int32_t {
  kYes = 0,
  // A board or a processor that crate cpu does not train on.
  kUnsupported = 1,
  // Its message was printed.
  kPanicked = 2,
};

using Work = Done (*)(const TengenUnit*);

namespace {

using tengen::try_to;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto kPoints = at::MemoryFormat::ChannelsLast;

at::Tensor by_points(const at::Tensor& tensor) { return tensor.contiguous(kPoints); }

// Without numbers. Crate cpu writes all of them, and to write zeros before would be another pass over all planes.
at::Tensor like(const at::Tensor& tensor) { return at::empty_like(tensor); }

// That as much memory is there as crate cpu will go through.
void check(
    const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& scale,
    const at::Tensor& shift,
    const std::optional<at::Tensor>& residual) {
  TORCH_CHECK(input.dim() == 4 && weight.dim() == 4, "planes and kernels have four dimensions");
  const auto positions = input.size(0), side = input.size(2), outputs = weight.size(0);
  TORCH_CHECK(positions > 0 && input.size(3) == side, "there are positions, and boards are square");
  TORCH_CHECK(weight.sizes() == at::IntArrayRef({outputs, input.size(1), 3, 3}), "kernels are 3x3, of the planes");
  TORCH_CHECK(scale.numel() == outputs && shift.numel() == outputs, "scale and shift are of the channels");
  TORCH_CHECK(
      !residual || residual->sizes() == at::IntArrayRef({positions, outputs, side, side}), "the sum is of equal planes");
  for (const auto* tensor : {&input, &weight, &scale, &shift, residual ? &*residual : &input}) {
    TORCH_CHECK(tensor->is_cpu() && tensor->scalar_type() == at::kFloat, "numbers are f32 on a CPU");
  }
}

void run(Work work, const TengenUnit& unit) {
  switch (work(&unit)) {
    case Done::kYes:
      return;
    case Done::kUnsupported:
      throw std::runtime_error("crate cpu does not train on this board or processor");
    case Done::kPanicked:
      throw std::runtime_error("a panic in crate cpu, whose message was printed before");
  }
  throw std::runtime_error("an unknown return code of crate cpu");
}

class Unit : public torch::autograd::Function<Unit> {
 public:
  static variable_list forward(
      AutogradContext* context,
      const at::Tensor& input,
      const at::Tensor& weight,
      const at::Tensor& scale,
      const at::Tensor& shift,
      const std::optional<at::Tensor>& residual,
      bool relu,
      Work forward,
      Work backward) {
    check(input, weight, scale, shift, residual);
    const auto x = by_points(input), kernels = by_points(weight);
    const auto factor = scale.contiguous(), summand = shift.contiguous();
    const auto added = residual ? by_points(*residual) : at::Tensor();
    const auto convolved = at::empty({x.size(0), kernels.size(0), x.size(2), x.size(3)}, x.options(), kPoints);
    const auto output = like(convolved), mean = at::zeros_like(factor), variance = at::zeros_like(factor);
    auto unit = job(x, kernels, factor, summand, convolved, mean, variance, output, relu);
    unit.residual = residual ? added.const_data_ptr<float>() : nullptr;
    run(forward, unit);
    context->save_for_backward({x, kernels, factor, summand, convolved, mean, variance, output});
    context->saved_data["relu"] = relu;
    context->saved_data["residual"] = residual.has_value();
    context->saved_data["backward"] = reinterpret_cast<int64_t>(backward);
    context->mark_non_differentiable({mean, variance});
    return {output, mean, variance};
  }

  // Once only: with create_graph its results have no graph.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &kernels = saved[1], &factor = saved[2], &output = saved[7];
    const auto of_output = by_points(gradients[0]);
    const bool relu = context->saved_data["relu"].toBool(), added = context->saved_data["residual"].toBool();
    auto unit = job(x, kernels, factor, saved[3], saved[4], saved[5], saved[6], output, relu);
    // Its numbers are not read; it says that there was a sum.
    unit.residual = added ? output.const_data_ptr<float>() : nullptr;
    const auto of_weight = at::zeros_like(kernels);
    const auto of_scale = at::zeros_like(factor), of_shift = at::zeros_like(factor);
    const auto of_input = context->needs_input_grad(0) ? like(x) : at::Tensor();
    const bool has_residual = added && context->needs_input_grad(4);
    // Without a ReLU it is the gradient of the output.
    const auto of_residual = has_residual && unit.relu ? like(of_output) : at::Tensor();
    unit.of_output = of_output.const_data_ptr<float>();
    unit.of_weight = of_weight.mutable_data_ptr<float>();
    unit.of_scale = of_scale.mutable_data_ptr<float>();
    unit.of_shift = of_shift.mutable_data_ptr<float>();
    unit.of_input = of_input.defined() ? of_input.mutable_data_ptr<float>() : nullptr;
    unit.of_residual = of_residual.defined() ? of_residual.mutable_data_ptr<float>() : nullptr;
    run(reinterpret_cast<Work>(context->saved_data["backward"].toInt()), unit);
    const auto of_added = !has_residual || unit.relu ? of_residual : of_output;
    const at::Tensor none;
    return {of_input, of_weight, of_scale, of_shift, of_added, none, none, none};
  }

 private:
  static TengenUnit job(
      const at::Tensor& x,
      const at::Tensor& kernels,
      const at::Tensor& factor,
      const at::Tensor& summand,
      const at::Tensor& convolved,
      const at::Tensor& mean,
      const at::Tensor& variance,
      const at::Tensor& output,
      bool relu) {
    TengenUnit unit{};
    unit.positions = x.size(0);
    unit.side = x.size(2);
    unit.inputs = x.size(1);
    unit.outputs = kernels.size(0);
    unit.relu = relu;
    unit.weight = kernels.const_data_ptr<float>();
    unit.scale = factor.const_data_ptr<float>();
    unit.shift = summand.const_data_ptr<float>();
    unit.input = x.const_data_ptr<float>();
    unit.convolved = convolved.mutable_data_ptr<float>();
    unit.mean = mean.mutable_data_ptr<float>();
    unit.variance = variance.mutable_data_ptr<float>();
    unit.output = output.mutable_data_ptr<float>();
    return unit;
  }
};

}  // namespace

extern "C" {

// Output, mean and variance of a unit in training, as three new tensors. `residual` may be null.
char* tengen_unit(
    const at::Tensor* input,
    const at::Tensor* weight,
    const at::Tensor* scale,
    const at::Tensor* shift,
    const at::Tensor* residual,
    bool relu,
    Work forward,
    Work backward,
    at::Tensor* results[3]) {
  return try_to([&] {
    const auto added = residual == nullptr ? std::nullopt : std::optional<at::Tensor>(*residual);
    auto made = Unit::apply(*input, *weight, *scale, *shift, added, relu, forward, backward);
    auto output = std::make_unique<at::Tensor>(made[0]), mean = std::make_unique<at::Tensor>(made[1]);
    results[2] = new at::Tensor(made[2]);
    results[1] = mean.release();
    results[0] = output.release();
  });
}
}
