//===- ModuleGraph.cpp ----------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/transforms/propagate/ModuleGraph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Dialect.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/access/RuleAccess.h"
#include "shardonnay/dialect/sdy/access/RuleTable.h"
#include "shardonnay/dialect/sdy/access/SignatureAttributes.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "shardonnay/support/Prefetch.h"
#include "shardonnay/transforms/propagate/ConservativeRule.h"
#include "shardonnay/transforms/propagate/ValueNumbers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace shardonnay {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What has a place in the graph, in the order of the text: regions of ops with
/// a sharding rule are part of what those compute.
template <typename VisitT>
static void walkSharded(func::FuncOp func, VisitT visit) {
  walkOps<WalkOrder::PreOrder>(func, [&](Operation *op) {
    visit(op);
    return op->getNumRegions() != 0 && isa<ShardingRuleOpInterface>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
}

/// Fills a ModuleGraph. What is large is an array that grows to its size while
/// nothing else does, or has its size from the start, and goes before the next
/// comes: so the most that is held at once is little more than what stays.
class GraphReader {
public:
  explicit GraphReader(ModuleGraph &out) : out(out), graph(out.graph) {}

  /// False if `shareGroups` inserted ops: to be read anew.
  bool read(ModuleOp module, ModuleGraph::ShareGroups shareGroups,
            ModuleGraph::Givers &givers) {
    collect(module);
    if (shareGroups(out.groups, givers))
      return false;
    addTensors();
    readOperations();
    for (auto &[id, members] : out.groups)
      readGroup(members);
    for (auto [value, giver] : givers)
      out.givers[idOf(value)] = idOf(giver);
    out.values = values.take();
    graph.connect();
    return true;
  }

private:
  /// All values first: edges between functions see the tensors of both.
  void collect(ModuleOp module) {
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      functions.push_back(func);
      for (BlockArgument argument : func.getArguments())
        addValue(argument);
      addFunctionResults(func);
      walkSharded(func, [&](Operation *op) { collect(op); });
    }
  }

  void collect(Operation *op) {
    ++numOps;
    numTensorsOfOps += op->getNumOperands() + op->getNumResults();
    addResults(op);
    if (auto group = dyn_cast<sdy::ShardingGroupOp>(op))
      out.groups[group.getGroupId()].push_back(group);
    else if (auto call = dyn_cast<func::CallOp>(op))
      calls[call.getCalleeAttr().getAttr()].push_back(call);
  }

  void addTensors() {
    values.makeFindable();
    // Room that is not used is no memory.
    graph.reserve(values.size(), numOps, numTensorsOfOps);
    for (int32_t tensor : llvm::seq<int32_t>(values.size()))
      addTensor(tensor);
  }

  void readOperations() {
    // What it knows besides the rules goes before the graph is connected.
    sdy::RuleTable table(out.conservative ? getConservativeRule
                                          : sdy::getPropagationRule,
                         &graph.rules());
    rules = &table;
    for (func::FuncOp function : functions) {
      func = function;
      walkSharded(func, [&](Operation *op) { readOperation(op); });
    }
  }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// An edge stands for its owner, and the other targets of the class, as well.
  Value edgeOf(Value value) const {
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

  void addFunctionResults(func::FuncOp func) {
    SmallVector<int32_t> &results = resultTensors[func];
    for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
      bool isTensor = isa<RankedTensorType>(type);
      results.push_back(isTensor ? values.size() : kNone);
      if (!isTensor)
        continue;
      out.functionResults[values.size()] = {func, static_cast<unsigned>(index)};
      values.add({});
    }
  }

  void addValue(Value value) {
    if (isa<RankedTensorType>(value.getType()) && edgeOf(value) == value)
      values.add(value);
  }

  void addTensor(int32_t tensor) {
    sdy::TensorShardingAttr attr;
    Type type;
    if (Value value = values[tensor]) {
      attr = sdy::getSharding(value);
      type = value.getType();
    } else {
      auto [func, index] = out.functionResults.lookup(tensor);
      attr = sdy::getFuncResultSharding(func, index);
      type = func.getResultTypes()[index];
    }
    int32_t id = shardingId(attr, cast<RankedTensorType>(type).getRank());
    if (attr)
      out.given.emplace_back(tensor, id);
    graph.addTensor(id);
  }

  /// Most tensors have no sharding yet, and the others one of few.
  int32_t shardingId(sdy::TensorShardingAttr attr, int64_t rank) {
    if (!attr)
      return openId(rank);
    auto [known, isNew] = shardingIds.try_emplace({attr, rank}, 0);
    if (!isNew)
      return known->second;
    auto named = sdy::NamedMesh::of(out.module, attr);
    // One on a single device has no dims and exchanges nothing.
    return known->second = graph.intern({named.mesh.isMaximal()
                                             ? TensorSharding::fullyOpen(rank)
                                             : named.read(attr),
                                         meshId(named)});
  }

  int32_t openId(int64_t rank) {
    if (static_cast<size_t>(rank) >= openIds.size())
      openIds.resize(rank + 1, kNone);
    if (openIds[rank] == kNone)
      openIds[rank] = graph.intern({TensorSharding::fullyOpen(rank), kNone});
    return openIds[rank];
  }

  int32_t meshId(const sdy::NamedMesh &named) {
    if (named.mesh.isEmpty())
      return kNone;
    auto known = llvm::find_if(out.meshes, [&](const sdy::NamedMesh &other) {
      return other.mesh == named.mesh;
    });
    if (known == out.meshes.end())
      known = out.meshes.insert(known, named);
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
      // Nothing goes through what has no shape.
      if (!isa<RankedTensorType>(op->getResult(0).getType()))
        return;
      OpSignature form = identityForm(op->getResult(0));
      form.elementwise = true;
      form.onlyUser = isOnlyUser(op);
      if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
        form.allowed = toDirection(barrier.getAllowedDirection());
        // It says itself where axes may pass, whatever the level.
        form.onlyUser = true;
      }
      addOp(op, form, op->getOperands(), op->getResults());
    } else if (std::optional<int32_t> rule = rules->find(op)) {
      addOp(op, formOf(op, *rule), op->getOperands(), op->getResults());
    }
  }

  /// The form of an op that has a rule.
  int32_t formOf(Operation *op, int32_t rule) {
    OpSignature form;
    form.onlyUser = isOnlyUser(op);
    if (auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op)) {
      form.propagationClass = ruleOp.getPropagationClass();
      form.elementwise = ruleOp.isElementwise();
    }
    form.rule = &graph.rules()[rule];
    return graph.intern(form);
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
    OpSignature form = identityForm(edge, sources.size());
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
    OpSignature form = identityForm(edge, sources.size());
    form.onlyUser = true;
    addOp(edge, form, sources, edge.getResult());
  }

  /// The body's side of a class that is manual is local: its sources
  /// where a result owns it, else the class itself.
  static void readBoundary(OpSignature &form,
                           std::optional<ManualBoundary> boundary,
                           bool isArgument) {
    if (!boundary)
      return;
    form.boundary = {*std::move(boundary)};
    form.inside.assign(form.rule->numTensors(), !isArgument);
    form.inside.back() = isArgument;
  }

  static bool isOnlyUser(Operation *op) {
    return llvm::all_of(op->getOperands(), [](Value operand) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      return !type || type.getRank() == 0 || operand.hasOneUse();
    });
  }

  /// Passes on `numOperands` tensors of the type of `value`.
  OpSignature identityForm(Value value, int64_t numOperands = 1) {
    OpSignature form;
    form.rule = graph.keep(identityRule(
        cast<RankedTensorType>(value.getType()).getShape(), numOperands));
    form.propagationClass = PropagationClass::PassThrough;
    return form;
  }

  void addOp(Operation *op, const OpSignature &form, ValueRange operands,
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
      OpSignature form = identityForm(value);
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
  SmallVector<func::FuncOp> functions;
  ValueNumbers values;
  /// At least as many as the graph will have, and tensors of theirs.
  size_t numOps = 0, numTensorsOfOps = 0;
  sdy::RuleTable *rules = nullptr;
  /// The function that is being read.
  func::FuncOp func;
  /// The tensors of the functions' results.
  llvm::DenseMap<Operation *, SmallVector<int32_t>> resultTensors;
  /// By the callee's name.
  llvm::DenseMap<StringAttr, SmallVector<func::CallOp>> calls;
  /// The edges of the targets of data-flow ops.
  llvm::DenseMap<Value, Value> edges;
  /// By the rank, of tensors without a sharding.
  SmallVector<int32_t> openIds;
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
                              bool conservative, ShareGroups shareGroups) {
  Givers givers;
  while (true) {
    ModuleGraph result;
    result.module = module;
    result.keepOperations = keepOperations;
    result.conservative = conservative;
    if (!GraphReader(result).read(module, shareGroups, givers))
      continue;
    if (conservative)
      result.graph.refuseParts(llvm::to_vector<0>(llvm::map_range(
          result.meshes, [](auto &known) { return known.toMesh(); })));
    return result;
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes a ModuleGraph back.
class GraphWriter {
public:
  GraphWriter(const ModuleGraph &in, bool dropsPriorities,
              const IRMapping &copied)
      : in(in), graph(in.graph), dropsPriorities(dropsPriorities),
        copied(copied) {
    for (int32_t id : llvm::seq(graph.numShardings())) {
      const TensorSharding &sharding = graph.shardingOf(id).sharding;
      isOpen.push_back(sharding ==
                       TensorSharding::fullyOpen(sharding.dims.size()));
    }
  }

  void write() {
    const auto *given = in.given.begin();
    for (int32_t tensor : llvm::seq(graph.numTensors())) {
      if (given != in.given.end() && given->first == tensor)
        write(tensor, graph.shardingOf((given++)->second));
      else if (!isOpen[graph.shardingId(tensor)])
        writeSharding(tensor, kNone);
    }
  }

private:
  void write(int32_t tensor, const MeshSharding &given) {
    if (given.mesh != kNone)
      recordGiven(tensor, given);
    if (graph.sharding(tensor) != given.sharding ||
        (dropsPriorities && given.mesh != kNone &&
         hasPriority(sharding(tensor))))
      writeSharding(tensor, given.mesh);
  }

  static bool hasPriority(sdy::TensorShardingAttr sharding) {
    return llvm::any_of(sharding.getDimShardings(),
                        [](sdy::DimensionShardingAttr dim) {
                          return dim.getPriority().has_value();
                        });
  }

  /// Export may trim an open dim of the boundary to full axes that divide it.
  /// Where that might take away what was given, leaves a record of it.
  void recordGiven(int32_t tensor, const MeshSharding &given) {
    auto argument = dyn_cast_if_present<BlockArgument>(value(tensor));
    std::optional<ModuleGraph::FunctionResult> result = functionResult(tensor);
    if (!argument && !result)
      return;
    func::FuncOp func =
        result ? result->func
               : dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    sdy::TensorShardingAttr attr = sharding(tensor);
    if (!attr || !func)
      return;
    Type type =
        result ? func.getResultTypes()[result->index] : argument.getType();
    Mesh mesh = in.meshes[given.mesh].toMesh();
    if (!mayBeTrimmed(given.sharding, mesh,
                      cast<RankedTensorType>(type).getShape()))
      return;
    if (result)
      signatures.of(func).setResult(result->index, sdy::kGivenShardingAttr,
                                    attr);
    else
      signatures.of(func).setArgument(argument.getArgNumber(),
                                      sdy::kGivenShardingAttr, attr);
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

  /// Where it is written to.
  Value value(int32_t tensor) const {
    Value value = in.values[tensor];
    return value ? copied.lookupOrDefault(value) : value;
  }
  std::optional<ModuleGraph::FunctionResult>
  functionResult(int32_t tensor) const {
    std::optional<ModuleGraph::FunctionResult> result =
        in.functionResult(tensor);
    if (result)
      if (Operation *copy = copied.lookupOrNull(result->func.getOperation()))
        result->func = cast<func::FuncOp>(copy);
    return result;
  }

  /// As it stands in the IR.
  sdy::TensorShardingAttr sharding(int32_t tensor) const {
    if (Value written = value(tensor))
      return sdy::getSharding(written);
    ModuleGraph::FunctionResult result = *functionResult(tensor);
    return sdy::getFuncResultSharding(result.func, result.index);
  }

  void writeSharding(int32_t tensor, int32_t givenMesh) {
    int32_t id = graph.shardingId(tensor);
    sdy::NamedMesh mesh = in.meshes[graph.mesh(tensor)];
    if (givenMesh == graph.mesh(tensor))
      if (sdy::TensorShardingAttr given = sharding(tensor))
        mesh.name = given.getMeshOrRef();
    sdy::TensorShardingAttr &attr = attributes[{mesh.name, id}];
    if (!attr) {
      // A priority is that of what was given.
      TensorSharding found = graph.sharding(tensor);
      for (DimSharding &dim : found.dims)
        dim.priority = 0;
      attr = mesh.write(found);
    }
    if (Value written = value(tensor)) {
      setSharding(written, attr);
    } else {
      ModuleGraph::FunctionResult result = *functionResult(tensor);
      signatures.of(result.func)
          .setResult(result.index, sdy::kShardingAttr, attr);
    }
  }

  /// Most ops have no attributes before, and get those that others got.
  void setSharding(Value value, sdy::TensorShardingAttr attr) {
    Operation *op = value.getDefiningOp();
    auto func = dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
    if (!op && func)
      return signatures.of(func).setArgument(
          cast<BlockArgument>(value).getArgNumber(), sdy::kShardingAttr, attr);
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
  bool dropsPriorities;
  /// Empty if the module itself is written to.
  const IRMapping &copied;
  /// By the sharding's id: it says nothing.
  llvm::BitVector isOpen;
  llvm::DenseMap<std::pair<Attribute, int32_t>, sdy::TensorShardingAttr>
      attributes;
  /// By what an op had before, and its sharding.
  llvm::DenseMap<std::pair<Attribute, Attribute>, DictionaryAttr> dictionaries;
  /// Written last.
  sdy::Signatures signatures;
};

void ModuleGraph::write(bool dropsPriorities) const {
  writeTo(IRMapping(), dropsPriorities);
}

void ModuleGraph::writeTo(const IRMapping &copied, bool dropsPriorities) const {
  GraphWriter(*this, dropsPriorities, copied).write();
}

} // namespace shardonnay
