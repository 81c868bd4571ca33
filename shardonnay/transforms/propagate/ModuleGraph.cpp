//===- ModuleGraph.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/RuleAccess.h"
#include "shardonnay/dialect/sdy/RuleTable.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/interfaces/ProgramOps.h"
#include "shardonnay/transforms/propagate/ConservativeRule.h"
#include "shardonnay/transforms/propagate/ValueNumbers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include <map>

using namespace mlir;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// Sharding groups
//===----------------------------------------------------------------------===//

using GroupOps = llvm::MapVector<int64_t, SmallVector<sdy::ShardingGroupOp>>;

/// What is written for a member of a group; null also where that says nothing.
static sdy::TensorShardingAttr memberSharding(sdy::ShardingGroupOp member) {
  sdy::TensorShardingAttr sharding = sdy::getSharding(member.getInput());
  if (!sharding || !sharding.getReplicatedAxes().empty() ||
      !sharding.getUnreducedAxes().empty())
    return sharding;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    if (dim.getIsClosed() || !dim.getAxes().empty())
      return sharding;
  return {};
}

/// The members' one sharding, null if none has one; failure if two differ.
static FailureOr<sdy::TensorShardingAttr>
commonSharding(ArrayRef<sdy::ShardingGroupOp> members) {
  sdy::TensorShardingAttr common;
  for (sdy::ShardingGroupOp member : members) {
    sdy::TensorShardingAttr sharding = memberSharding(member);
    if (common && sharding && sharding != common)
      return failure();
    common = common ? common : sharding;
  }
  return common;
}

/// Separates the members from the values that they were, so that they have one
/// sharding and do not force each other's.
static void separateMembers(ArrayRef<sdy::ShardingGroupOp> members) {
  sdy::ShardingGroupOp first = members.front();
  InFlightDiagnostic warning =
      first.emitWarning()
      << "the values of sharding group " << first.getGroupId()
      << " have different shardings; each keeps its own, and its uses get one "
         "of the group";
  Attribute meshOrRef;
  for (sdy::ShardingGroupOp member : members) {
    sdy::TensorShardingAttr sharding = memberSharding(member);
    if (!sharding)
      continue;
    meshOrRef = meshOrRef ? meshOrRef : sharding.getMeshOrRef();
    warning.attachNote(member.getLoc()) << "this one has " << sharding;
  }
  for (sdy::ShardingGroupOp member : members) {
    Value value = member.getInput();
    OpBuilder builder(member.getContext());
    builder.setInsertionPointAfterValue(value);
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    auto constraint = sdy::ShardingConstraintOp::create(
        builder, member.getLoc(), value,
        sdy::TensorShardingAttr::getFullyOpen(member.getContext(), rank,
                                              meshOrRef));
    value.replaceAllUsesExcept(constraint, constraint);
  }
}

/// Whether that makes ops.
static bool shareShardings(const GroupOps &groups) {
  bool separated = false;
  for (auto &[id, members] : groups) {
    FailureOr<sdy::TensorShardingAttr> common = commonSharding(members);
    if (failed(common)) {
      separateMembers(members);
      separated = true;
      continue;
    }
    if (*common)
      for (sdy::ShardingGroupOp member : members)
        sdy::setSharding(member.getInput(), *common);
  }
  return separated;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Fills a ModuleGraph.
class GraphReader {
public:
  explicit GraphReader(ModuleGraph &out)
      : out(out), graph(out.graph),
        rules(out.conservative ? getConservativeRule
                               : sdy::getPropagationRule) {}

  void read(ModuleOp module) {
    collect(module);
    if (shareShardings(groups))
      collect(module);
    reserve();
    // Edges between functions see the tensors of both.
    for (const Function &function : functions)
      addTensors(function);
    for (const Function &function : functions)
      readOperations(function);
    for (auto &[id, members] : groups)
      readGroup(members);
    functions = {};
    out.values = values.take();
    graph.connect();
  }

private:
  struct Function {
    func::FuncOp func;
    ProgramOps ops;
  };

  void collect(ModuleOp module) {
    functions.clear();
    groups.clear();
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      functions.push_back({func, ProgramOps(func)});
      functions.back().ops.forEachSharded([&](Operation *op) {
        if (auto group = dyn_cast<sdy::ShardingGroupOp>(op))
          groups[group.getGroupId()].push_back(group);
      });
    }
  }

  /// Makes room.
  void reserve() {
    size_t tensors = 0, ops = 0, tensorsOfOps = 0;
    for (Function &function : functions) {
      tensors +=
          function.func.getNumArguments() + function.func.getNumResults();
      function.ops.forEachSharded([&](Operation *op) {
        tensors += op->getNumResults();
        for (Region &region : op->getRegions())
          tensors += region.getNumArguments();
        hasEdges |= isa<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp>(op);
        // An estimate of those with a rule.
        if (op->getNumOperands() == 0 || op->getNumResults() == 0)
          return;
        ++ops;
        tensorsOfOps += op->getNumOperands() + op->getNumResults();
      });
    }
    values.reserve(tensors);
    out.given.reserve(tensors);
    graph.reserve(tensors, ops, tensorsOfOps);
  }

  void addTensors(const Function &function) {
    func = function.func;
    for (BlockArgument argument : func.getArguments())
      addValue(argument);
    addFunctionResults();
    function.ops.forEachSharded([&](Operation *op) {
      addResults(op);
      if (auto call = dyn_cast<func::CallOp>(op))
        calls[call.getCalleeAttr().getAttr()].push_back(call);
    });
  }

  void readOperations(const Function &function) {
    func = function.func;
    function.ops.forEachSharded([&](Operation *op) { readOperation(op); });
  }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// An edge stands for its owner, and the other targets of the class, as well.
  Value edgeOf(Value value) const {
    if (!hasEdges)
      return value;
    if (Value edge = edges.lookup(value))
      return edge;
    if (value.hasOneUse())
      if (isa<sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp>(
              *value.user_begin()))
        return value.user_begin()->getResult(0);
    return value;
  }

  void addResults(Operation *op) {
    for (Value result : op->getResults())
      addValue(result);
    auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op);
    if (!dataFlow)
      return;
    for (Value owner : dataFlow.getEdgeOwners()) {
      if (isa<BlockArgument>(owner))
        addValue(owner);
      if (edgeOf(owner) == owner)
        continue;
      for (Value target : dataFlow.getEdgeTargets(owner))
        edges[target] = edgeOf(owner);
    }
  }

  void addFunctionResults() {
    SmallVector<int32_t> &functionResults = resultTensors[func];
    for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      functionResults.push_back(
          tensor ? addTensor({}, sdy::getFuncResultSharding(func, index),
                             tensor.getRank())
                 : kNone);
      if (tensor)
        out.functionResults[functionResults.back()] = {
            func, static_cast<unsigned>(index)};
    }
  }

  void addValue(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && edgeOf(value) == value)
      addTensor(value, sdy::getSharding(value), type.getRank());
  }

  int32_t addTensor(Value value, sdy::TensorShardingAttr attr, int64_t rank) {
    int32_t id = shardingId(attr, rank);
    out.given.push_back(id);
    values.add(value);
    return graph.addTensor(id);
  }

  /// Most tensors have no sharding yet, and the others one of few.
  int32_t shardingId(sdy::TensorShardingAttr attr, int64_t rank) {
    auto [known, isNew] = shardingIds.try_emplace({attr, rank}, 0);
    if (!isNew)
      return known->second;
    MeshSharding sharding{TensorSharding::fullyOpen(rank), kNone};
    if (attr) {
      sdy::MeshAttr mesh = sdy::getMesh(func, attr);
      sharding.mesh = meshId(mesh, attr.getMeshOrRef());
      // One on a single device has no dims and exchanges nothing.
      if (!mesh.isMaximal())
        sharding.sharding = sdy::toSharding(attr, mesh);
    }
    return known->second = graph.intern(sharding);
  }

  int32_t meshId(sdy::MeshAttr mesh, Attribute meshOrRef) {
    if (mesh.isEmpty())
      return kNone;
    auto known = llvm::find_if(
        out.meshes, [&](const auto &other) { return other.mesh == mesh; });
    if (known == out.meshes.end())
      known = out.meshes.insert(known, {mesh, meshOrRef});
    return known - out.meshes.begin();
  }

  int32_t idOf(Value value) const {
    int32_t id = values.find(value);
    return id == kNone ? values.find(edgeOf(value)) : id;
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void readOperation(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      readReturn(op);
    } else if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
      readEdge(edge);
    } else if (auto edge = dyn_cast<sdy::FuncDataFlowEdgeOp>(op)) {
      readFuncEdge(edge);
    } else if (isa<sdy::ShardingConstraintOp, sdy::PropagationBarrierOp>(op)) {
      OpForm form = identityForm(op->getResult(0));
      form.elementwise = true;
      form.onlyUser = isOnlyUser(op);
      if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
        form.allowed = toDirection(barrier.getAllowedDirection());
        // It says itself where axes may pass, whatever the level.
        form.onlyUser = true;
      }
      addOp(op, form, op->getOperands(), op->getResults());
    } else if (std::optional<int32_t> rule = rules.find(op)) {
      addOp(op, formOf(op, *rule), op->getOperands(), op->getResults());
    }
  }

  /// The form of an op that has a rule.
  int32_t formOf(Operation *op, int32_t rule) {
    OpForm form;
    form.onlyUser = isOnlyUser(op);
    if (auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op)) {
      form.propagationClass = ruleOp.getPropagationClass();
      form.elementwise = ruleOp.isElementwise();
    }
    auto [known, isNew] = formsOfRules.try_emplace(
        {rule, form.propagationClass, form.elementwise, form.onlyUser});
    if (isNew) {
      form.rule = rules[rule];
      known->second = graph.intern(form);
    }
    return known->second;
  }

  static Direction toDirection(sdy::PropagationDirection direction) {
    switch (direction) {
    case sdy::PropagationDirection::NONE:
      return Direction::None;
    case sdy::PropagationDirection::FORWARD:
      return Direction::Forward;
    case sdy::PropagationDirection::BACKWARD:
      return Direction::Backward;
    case sdy::PropagationDirection::BOTH:
      return Direction::Both;
    }
    llvm_unreachable("a direction that is not in the enum");
  }

  void readEdge(sdy::DataFlowEdgeOp edge) {
    Value owner = edge.getInput();
    Operation *op = owner.getDefiningOp();
    if (!op)
      op = owner.getParentBlock()->getParentOp();
    auto dataFlow = dyn_cast<ShardableDataFlowOpInterface>(op);
    SmallVector<Value> sources;
    if (dataFlow)
      for (OpOperand *source : dataFlow.getEdgeSources(owner))
        sources.push_back(source->get());
    OpForm form = identityForm(edge, sources.size());
    // What counts is the use of the owner, and that is the edge's alone.
    form.onlyUser = true;
    if (dataFlow)
      readBoundary(form, dataFlow.getManualBoundary(owner),
                   isa<BlockArgument>(owner));
    addOp(edge, form, sources, edge.getResult());
  }

  /// On an argument: what all calls pass. On a call's result: what the callee
  /// returns.
  void readFuncEdge(sdy::FuncDataFlowEdgeOp edge) {
    SmallVector<Value> sources;
    if (auto argument = dyn_cast<BlockArgument>(edge.getOperand())) {
      for (func::CallOp call : calls[func.getSymNameAttr()])
        sources.push_back(call.getOperand(argument.getArgNumber()));
    } else {
      auto result = cast<OpResult>(edge.getOperand());
      auto call = cast<func::CallOp>(result.getOwner());
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && !callee.isExternal())
        sources.push_back(callee.getBody().back().getTerminator()->getOperand(
            result.getResultNumber()));
    }
    OpForm form = identityForm(edge, sources.size());
    form.onlyUser = true;
    addOp(edge, form, sources, edge.getResult());
  }

  /// The body's side of a class that is cut by hand is local: its sources
  /// where a result owns it, else the class itself.
  static void readBoundary(OpForm &form, std::optional<ManualBoundary> boundary,
                           bool isArgument) {
    if (!boundary)
      return;
    form.boundary = {*std::move(boundary)};
    form.inside.assign(form.rule.numTensors(), !isArgument);
    form.inside.back() = isArgument;
  }

  static bool isOnlyUser(Operation *op) {
    return llvm::all_of(op->getOperands(), [](Value operand) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      return !type || type.getRank() == 0 || operand.hasOneUse();
    });
  }

  /// Passes on `numOperands` tensors of the type of `value`.
  static OpForm identityForm(Value value, int64_t numOperands = 1) {
    OpForm form;
    form.rule = identityRule(cast<RankedTensorType>(value.getType()).getShape(),
                             numOperands);
    form.propagationClass = PropagationClass::PassThrough;
    return form;
  }

  void addOp(Operation *op, const OpForm &form, ValueRange operands,
             ValueRange results) {
    addOp(op, graph.intern(form), operands, results);
  }

  void addOp(Operation *op, int32_t form, ValueRange operands,
             ValueRange results) {
    SmallVector<int32_t> tensors;
    for (ValueRange range : {operands, results})
      for (Value value : range)
        tensors.push_back(idOf(value));
    graph.addOp(form, tensors);
    if (out.keepOperations)
      out.operations.push_back(op);
  }

  /// The results of other functions follow the calls (readFuncEdge).
  void readReturn(Operation *op) {
    if (func.isPrivate())
      return;
    for (auto [value, result] :
         llvm::zip(op->getOperands(), resultTensors[func])) {
      if (result == kNone)
        continue;
      OpForm form = identityForm(value);
      form.onlyUser = form.elementwise = true;
      graph.addReturn(form, {idOf(value), result});
    }
  }

  void readGroup(ArrayRef<sdy::ShardingGroupOp> members) {
    SmallVector<int32_t> tensors;
    for (sdy::ShardingGroupOp member : members) {
      int32_t tensor = idOf(member.getInput());
      if (tensor != kNone && !llvm::is_contained(tensors, tensor))
        tensors.push_back(tensor);
    }
    graph.addGroup(tensors);
  }

  ModuleGraph &out;
  PropagationGraph &graph;
  std::vector<Function> functions;
  GroupOps groups;
  bool hasEdges = false;
  ValueNumbers values;
  sdy::RuleTable rules;
  /// By rule, propagation class, element-wise or not, only user or not.
  std::map<std::tuple<int32_t, PropagationClass, bool, bool>, int32_t>
      formsOfRules;
  func::FuncOp func;
  /// The tensors of the functions' results.
  llvm::DenseMap<Operation *, SmallVector<int32_t>> resultTensors;
  /// By the callee's name.
  llvm::DenseMap<StringAttr, SmallVector<func::CallOp>> calls;
  /// Of the targets of data-flow ops.
  llvm::DenseMap<Value, Value> edges;
  /// By the attribute and the rank.
  llvm::DenseMap<std::pair<Attribute, int64_t>, int32_t> shardingIds;
};

std::optional<ModuleGraph::FunctionResult>
ModuleGraph::functionResult(int32_t tensor) const {
  auto found = functionResults.find(tensor);
  if (found == functionResults.end())
    return std::nullopt;
  return found->second;
}

ModuleGraph ModuleGraph::read(ModuleOp module, bool keepOperations,
                              bool conservative) {
  ModuleGraph result;
  result.module = module;
  result.keepOperations = keepOperations;
  result.conservative = conservative;
  GraphReader(result).read(module);
  if (conservative)
    result.graph.refuseParts(llvm::to_vector<0>(llvm::map_range(
        result.meshes, [](auto &known) { return sdy::toMesh(known.mesh); })));
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes a ModuleGraph back.
class GraphWriter {
public:
  explicit GraphWriter(const ModuleGraph &in) : in(in), graph(in.graph) {}

  void write() {
    for (int32_t tensor : llvm::seq(graph.numTensors())) {
      const MeshSharding &given = graph.shardingOf(in.given[tensor]);
      if (given.mesh != kNone)
        recordGiven(tensor, given);
      if (graph.shardingId(tensor) != in.given[tensor] &&
          graph.sharding(tensor) != given.sharding)
        writeSharding(tensor, given.mesh);
    }
  }

private:
  /// Export may trim an open dim of the boundary to full axes that divide it.
  /// Where that might take away what was given, leaves a record of it.
  void recordGiven(int32_t tensor, const MeshSharding &given) {
    auto argument = dyn_cast_if_present<BlockArgument>(in.values[tensor]);
    auto result = in.functionResults.find(tensor);
    bool isResult = result != in.functionResults.end();
    if (!argument && !isResult)
      return;
    func::FuncOp func =
        isResult ? result->second.func
                 : dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    sdy::TensorShardingAttr attr = sharding(tensor);
    if (!attr || !func)
      return;
    Type type = isResult ? func.getResultTypes()[result->second.index]
                         : argument.getType();
    Mesh mesh = sdy::toMesh(in.meshes[given.mesh].mesh);
    if (!mayBeTrimmed(given.sharding, mesh,
                      cast<RankedTensorType>(type).getShape()))
      return;
    if (isResult)
      func.setResultAttr(result->second.index, sdy::kGivenShardingAttr, attr);
    else
      func.setArgAttr(argument.getArgNumber(), sdy::kGivenShardingAttr, attr);
  }

  static bool mayBeTrimmed(const TensorSharding &sharding, const Mesh &mesh,
                           ArrayRef<int64_t> shape) {
    for (auto [dim, size] : llvm::zip(sharding.dims, shape)) {
      bool full = llvm::all_of(dim.axes,
                               [&](AxisRef axis) { return mesh.isFull(axis); });
      if (!dim.closed && !(full && dim.axes.prefixDividing(size) == dim.axes))
        return true;
    }
    return false;
  }

  /// As it stands in the IR.
  sdy::TensorShardingAttr sharding(int32_t tensor) const {
    if (Value value = in.values[tensor])
      return sdy::getSharding(value);
    ModuleGraph::FunctionResult result = in.functionResults.lookup(tensor);
    return sdy::getFuncResultSharding(result.func, result.index);
  }

  void writeSharding(int32_t tensor, int32_t givenMesh) {
    int32_t id = graph.shardingId(tensor);
    Attribute meshOrRef = in.meshes[graph.mesh(tensor)].meshOrRef;
    if (givenMesh == graph.mesh(tensor))
      if (sdy::TensorShardingAttr given = sharding(tensor))
        meshOrRef = given.getMeshOrRef();
    sdy::TensorShardingAttr &attr = attributes[{meshOrRef, id}];
    if (!attr)
      attr = sdy::fromSharding(graph.sharding(tensor), meshOrRef,
                               in.meshes[graph.mesh(tensor)].mesh);
    if (Value value = in.values[tensor]) {
      setSharding(value, attr);
    } else {
      ModuleGraph::FunctionResult result = in.functionResults.lookup(tensor);
      sdy::setFuncResultSharding(result.func, result.index, attr);
    }
  }

  /// Most ops have no attributes before, and get those that others got.
  void setSharding(Value value, sdy::TensorShardingAttr attr) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 ||
        isa_and_present<sdy::SdyDialect>(op->getDialect()))
      return sdy::setSharding(value, attr);
    DictionaryAttr &with = dictionaries[{op->getRawDictionaryAttrs(), attr}];
    if (with)
      return op->setDiscardableAttrs(with);
    sdy::setSharding(value, attr);
    with = op->getRawDictionaryAttrs();
  }

  const ModuleGraph &in;
  const PropagationGraph &graph;
  llvm::DenseMap<std::pair<Attribute, int32_t>, sdy::TensorShardingAttr>
      attributes;
  /// By what an op had before, and its sharding.
  llvm::DenseMap<std::pair<Attribute, Attribute>, DictionaryAttr> dictionaries;
};

void ModuleGraph::write() const { GraphWriter(*this).write(); }

} // namespace shardonnay
