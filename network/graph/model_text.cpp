#include "weft/network/graph/model_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "weft/network/graph/limits.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

using Json = nlohmann::ordered_json;

// Reads one object of the text, and at the end says which of its keys are not known.
class Fields {
 public:
  Fields(const Json& json, std::string where, absl::Status* status)
      : json_(json), where_(std::move(where)), status_(*status) {
    if (!json.is_object()) Fail("is no object");
  }

  template <class Number>
  void Read(const char* key, Number* number) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    if (!(std::is_floating_point_v<Number> ? value->is_number() : value->is_number_integer()))
      return Fail(key, " is no number of its kind");
    if (IsTooLarge(*value))
      return Fail(key, " is ", value->dump(), ", which is no integer of 64 bits");
    if constexpr (sizeof(Number) == 4 && std::is_integral_v<Number>) {
      const auto wide = value->get<std::int64_t>();
      if (wide != static_cast<Number>(wide))
        return Fail(key, " is ", wide, ", which is no integer of 32 bits");
    }
    *number = value->get<Number>();
  }
  void Read(const char* key, bool* flag) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(key, " is neither true nor false");
    *flag = value->get<bool>();
  }
  void Read(const char* key, std::string* text) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return Fail(key, " is no text");
    *text = value->get<std::string>();
  }
  // Integers in the order of `numbers`.
  void Read(const char* key, std::initializer_list<std::int64_t*> numbers) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    bool right = value->is_array() && value->size() == numbers.size();
    for (std::size_t i = 0; right && i < numbers.size(); ++i) {
      right = (*value)[i].is_number_integer() && !IsTooLarge((*value)[i]);
    }
    if (!right) return Fail(key, " is not ", numbers.size(), " integers");
    std::size_t i = 0;
    for (std::int64_t* number : numbers) *number = (*value)[i++].get<std::int64_t>();
  }
  void Read(const char* key, Constant* constant) { Read(key, {&constant->at, &constant->bytes}); }
  template <class Word>
  void ReadWord(const char* key, std::optional<Word> (*find)(std::string_view), Word* word) {
    std::string text;
    Read(key, &text);
    const std::optional<Word> found = find(text);
    if (!found.has_value()) return Fail(key, " is \"", text, "\", which is none");
    *word = *found;
  }
  // The texts of an object, by their keys.
  void Read(const char* key, std::map<std::string, std::string>* texts) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_object()) return Fail(key, " is no object");
    for (const auto& [name, text] : value->items()) {
      if (!text.is_string()) return Fail(key, " has ", text.dump(), ", which is no text");
      texts->emplace(name, text.get<std::string>());
    }
  }
  // An object; null if there is no such key.
  const Json* Part(const char* key) { return Find(key); }
  // The elements of an array; none if there is no such key.
  const Json& List(const char* key) {
    static const Json none = Json::array();
    const Json* value = Find(key);
    if (value == nullptr) return none;
    if (value->is_array()) return *value;
    Fail(key, " is no list");
    return none;
  }
  void End() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (known_.count(key) == 0) Fail("has \"", key, "\", which this version does not know");
    }
  }

  template <class... Words>
  void Fail(const Words&... words) {
    if (status_.ok())
      status_ =
          absl::InvalidArgumentError(absl::StrCat("network: the file's ", where_, ": ", words...));
  }

 private:
  static bool IsTooLarge(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62;
  }

  const Json* Find(const char* key) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    const auto at = json_.find(key);
    return at == json_.end() ? nullptr : &*at;
  }

  const Json& json_;
  const std::string where_;
  absl::Status& status_;
  std::set<std::string> known_;
};

// Places of tensors, by the names in a list.
class Names {
 public:
  void Add(const std::string& name) { places_.emplace(name, static_cast<int>(places_.size())); }
  int Find(const Json& name) const {
    const auto at = name.is_string() ? places_.find(name.get<std::string>()) : places_.end();
    return at == places_.end() ? -1 : at->second;
  }
  // fields: of which `key` is the list.
  std::vector<int> FindAll(const char* key, Fields& fields) const {
    std::vector<int> found;
    for (const Json& name : fields.List(key)) {
      found.push_back(Find(name));
      if (found.back() < 0) fields.Fail(key, " has ", name.dump(), ", which no tensor is called");
    }
    return found;
  }

 private:
  std::map<std::string, int> places_;
};

Tensor TensorOf(const Json& json, std::size_t place, absl::Status* status) {
  Tensor t;
  Fields fields(json, absl::StrCat("tensor ", place), status);
  fields.Read("name", &t.name);
  fields.ReadWord("element", &ElementOf, &t.element);
  fields.Read("shape", {&t.c, &t.h, &t.w});
  fields.Read("scale", &t.quantization.scale);
  fields.Read("zero_point", &t.quantization.zero_point);
  fields.End();
  return t;
}

Node NodeOf(const Json& json, std::size_t place, const Names& names, absl::Status* status) {
  Node n;
  Fields fields(json, absl::StrCat("node ", place), status);
  fields.ReadWord("kind", &KindOf, &n.kind);
  fields.Read("name", &n.name);
  n.inputs = names.FindAll("inputs", fields);
  std::string output;
  fields.Read("output", &output);
  n.output = names.Find(output);
  if (n.output < 0) fields.Fail("output is \"", output, "\", which no tensor is called");
  Window& w = n.window;
  fields.Read("window", {&w.h, &w.w});
  fields.Read("stride", {&w.stride_h, &w.stride_w});
  fields.Read("padding", {&w.pad_top, &w.pad_left, &w.pad_bottom, &w.pad_right});
  fields.Read("dilation", {&w.dilation_h, &w.dilation_w});
  fields.Read("groups", &n.groups);
  fields.Read("count_padding", &n.count_padding);
  fields.Read("factors", {&n.factor_h, &n.factor_w});
  fields.Read("filter", &n.filter);
  fields.Read("filter_scale", &n.filter_scale);
  fields.Read("bias", &n.bias);
  fields.Read("table", &n.table);
  fields.End();
  return n;
}

SavedPlan PlanOf(const Json& json, std::size_t place, absl::Status* status) {
  SavedPlan plan;
  const std::string where = absl::StrCat("plan ", place);
  Fields fields(json, where, status);
  fields.Read("batch", &plan.batch);
  fields.Read("fuse", &plan.fuse);
  if (fields.Part("blocks") != nullptr) fields.ReadWord("blocks", &BlocksOf, &plan.blocks);
  for (const Json& name : fields.List("formats")) {
    const auto format = FormatOf(name.is_string() ? name.get<std::string>() : "");
    if (!format.has_value()) {
      fields.Fail("formats has ", name.dump(), "; it has some of nhwc, nc4 and nc32");
      break;
    }
    plan.formats.push_back(*format);
  }
  if (const Json* gpu = fields.Part("gpu")) {
    Fields limits(*gpu, absl::StrCat(where, "'s gpu"), status);
    VisitLimits(plan.gpu, [&](const char* key, auto& number) {
      limits.Read(key, &number);
      if (number <= 0) limits.Fail(key, " is ", number, "; it is at least 1");
    });
    limits.End();
  }
  fields.Read("tiles", &plan.tiles);
  if (plan.batch < 1) fields.Fail("batch is ", plan.batch, "; it is at least 1");
  fields.End();
  return plan;
}

Json JsonOf(const SavedPlan& plan) {
  Json json = {{"batch", plan.batch}, {"fuse", plan.fuse}};
  if (plan.blocks != SavedPlan().blocks) json["blocks"] = NameOf(plan.blocks);
  for (const Format format : plan.formats) json["formats"].push_back(NameOf(format));
  if (plan.gpu.compute_capability != 0) {
    VisitLimits(plan.gpu, [&](const char* key, auto number) { json["gpu"][key] = number; });
  }
  json["tiles"] = plan.tiles;
  return json;
}

Json JsonOf(const Tensor& t) {
  Json json = {{"name", t.name}, {"element", NameOf(t.element)}, {"shape", {t.c, t.h, t.w}}};
  if (t.element != Element::kFloat) {
    json["scale"] = t.quantization.scale;
    json["zero_point"] = t.quantization.zero_point;
  }
  return json;
}

Json JsonOf(const Graph& graph, const Node& n) {
  Json inputs = Json::array();
  for (const int input : n.inputs)
    inputs.push_back(graph.tensors[static_cast<std::size_t>(input)].name);
  Json json = {{"kind", NameOf(n.kind)},
               {"name", n.name},
               {"inputs", inputs},
               {"output", graph.tensors[static_cast<std::size_t>(n.output)].name}};
  const Node none;
  const Window& w = n.window;
  if (!(w == none.window)) {
    json["window"] = {w.h, w.w};
    json["stride"] = {w.stride_h, w.stride_w};
    json["padding"] = {w.pad_top, w.pad_left, w.pad_bottom, w.pad_right};
    json["dilation"] = {w.dilation_h, w.dilation_w};
  }
  if (n.groups != 1) json["groups"] = n.groups;
  if (n.count_padding) json["count_padding"] = true;
  if (n.kind == Kind::kResize) json["factors"] = {n.factor_h, n.factor_w};
  const std::pair<const char*, const Constant*> constants[] = {{"filter", &n.filter},
                                                               {"filter_scale", &n.filter_scale},
                                                               {"bias", &n.bias},
                                                               {"table", &n.table}};
  for (const auto& [key, constant] : constants) {
    if (constant->exists()) json[key] = {constant->at, constant->bytes};
  }
  return json;
}

absl::Status Damaged(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("network: ", why));
}

}  // namespace

std::string TextOf(const Model& model) {
  const Graph& graph = model.graph;
  const auto names_of = [&](const std::vector<int>& places) {
    Json names = Json::array();
    for (const int place : places)
      names.push_back(graph.tensors[static_cast<std::size_t>(place)].name);
    return names;
  };
  Json json = {{"name", graph.name},
               {"inputs", names_of(graph.inputs)},
               {"outputs", names_of(graph.outputs)}};
  json["tensors"] = Json::array();
  for (const Tensor& tensor : graph.tensors) json["tensors"].push_back(JsonOf(tensor));
  json["nodes"] = Json::array();
  for (const Node& node : graph.nodes) json["nodes"].push_back(JsonOf(graph, node));
  if (!model.plans.empty()) {
    json["headers"] = model.headers;
    json["plans"] = Json::array();
    for (const SavedPlan& plan : model.plans) json["plans"].push_back(JsonOf(plan));
  }
  // Names that are no UTF-8 are written with replacement characters.
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

absl::Status ReadText(std::string_view text, bool is_engine, Model* model) {
  // Values of nlohmann's are copied by recursion, so that lists in lists without end are not kept.
  constexpr int kDeepest = 16;
  bool is_deep = false;
  const auto keep = [&is_deep](int depth, Json::parse_event_t, const Json&) {
    is_deep = is_deep || depth > kDeepest;
    return !is_deep;
  };
  const Json json = Json::parse(text, keep, /*allow_exceptions=*/false);
  if (is_deep) return Damaged("the file's text has lists in lists that no graph has");
  if (json.is_discarded()) return Damaged("the file's text is no JSON");
  absl::Status status;
  Graph& graph = model->graph;
  Names names;
  Fields fields(json, "text", &status);
  fields.Read("name", &graph.name);
  for (const Json& tensor : fields.List("tensors")) {
    graph.tensors.push_back(TensorOf(tensor, graph.tensors.size(), &status));
    names.Add(graph.tensors.back().name);
  }
  for (const Json& node : fields.List("nodes")) {
    graph.nodes.push_back(NodeOf(node, graph.nodes.size(), names, &status));
  }
  graph.inputs = names.FindAll("inputs", fields);
  graph.outputs = names.FindAll("outputs", fields);
  if (is_engine) {
    fields.Read("headers", &model->headers);
    for (const Json& plan : fields.List("plans")) {
      model->plans.push_back(PlanOf(plan, model->plans.size(), &status));
    }
  }
  fields.End();
  return status;
}

}  // namespace weft::network
