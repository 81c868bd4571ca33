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
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/interfaces/DataFlowEdge.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"

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

/// Regions of an op with a rule are part of what it computes.
static bool isOpaque(Operation *op) { return isa<ShardingRuleOpInterface>(op); }

/// Stands in no region of an op with a rule.
static bool isInGraph(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isOpaque(parent))
      return false;
  return true;
}

static GroupOps shareShardingsOfGroups(ModuleOp module) {
  GroupOps groups;
  module.walk([&](sdy::ShardingGroupOp op) {
    if (isInGraph(op))
      groups[op.getGroupId()].push_back(op);
  });
  for (auto &[id, members] : groups) {
    FailureOr<sdy::TensorShardingAttr> common = commonSharding(members);
    if (failed(common)) {
      separateMembers(members);
      continue;
    }
    if (*common)
      for (sdy::ShardingGroupOp member : members)
        sdy::setSharding(member.getInput(), *common);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Fills a ModuleGraph.
class GraphReader {
public:
  explicit GraphReader(ModuleGraph &out) : out(out), graph(out.graph) {}

  void read(ModuleOp module) {
    GroupOps groups = shareShardingsOfGroups(module);
    for (func::FuncOp func : module.getOps<func::FuncOp>())
      if (!func.isExternal())
        readFunction(func);
    for (auto &[id, members] : groups)
      readGroup(members);
    connect();
  }

private:
  void readFunction(func::FuncOp func) {
    this->func = func;
    for (BlockArgument argument : func.getArguments())
      addValue(argument);
    addFunctionResults();
    walk([&](Operation *op) { addResults(op); });
    walk([&](Operation *op) { readOperation(op); });
  }

  /// The ops of `func` in the order of the text, without those in the regions
  /// of ops with a rule.
  void walk(llvm::function_ref<void(Operation *)> visit) {
    func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      visit(op);
      return isOpaque(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  /// An edge stands for its owner, and the other targets of the class, as well.
  Value edgeOf(Value value) const {
    if (Value edge = edges.lookup(value))
      return edge;
    if (value.hasOneUse())
      if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(*value.user_begin()))
        return edge.getResult();
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
    functionResults.clear();
    for (auto [index, type] : llvm::enumerate(func.getResultTypes())) {
      ModuleGraph::Home home;
      home.func = func;
      home.result = index;
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor)
        home.attr = sdy::getFuncResultSharding(func, index);
      functionResults.push_back(tensor ? addTensor(home, tensor.getRank())
                                       : kNone);
    }
  }

  void addValue(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || edgeOf(value) != value)
      return;
    ModuleGraph::Home home;
    home.value = value;
    home.attr = sdy::getSharding(value);
    ids[value] = addTensor(home, type.getRank());
  }

  int32_t addTensor(ModuleGraph::Home home, int64_t rank) {
    GraphTensor tensor;
    tensor.sharding = TensorSharding::fullyOpen(rank);
    if (home.attr) {
      sdy::MeshAttr mesh = sdy::getMesh(func, home.attr);
      tensor.sharding = sdy::toSharding(home.attr, mesh);
      tensor.mesh = meshId(mesh, home.attr.getMeshOrRef());
    }
    home.sharding = tensor.sharding;
    home.mesh = tensor.mesh;
    out.homes.push_back(std::move(home));
    graph.tensors.push_back(std::move(tensor));
    return graph.tensors.size() - 1;
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
    auto found = ids.find(edgeOf(value));
    return found == ids.end() ? kNone : found->second;
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void readOperation(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      readReturn(op);
    } else if (auto edge = dyn_cast<sdy::DataFlowEdgeOp>(op)) {
      readEdge(edge);
    } else if (isa<sdy::ShardingConstraintOp, sdy::PropagationBarrierOp>(op)) {
      GraphOp &node = addIdentity(op, op->getOperands(), op->getResult(0));
      node.propagationClass = PropagationClass::PassThrough;
      node.elementwise = true;
      if (auto barrier = dyn_cast<sdy::PropagationBarrierOp>(op)) {
        node.allowed = toDirection(barrier.getAllowedDirection());
        // It says itself where axes may pass, whatever the level.
        node.onlyUser = true;
      }
    } else if (std::optional<FactorRule> rule = sdy::getPropagationRule(op)) {
      GraphOp &node = addOp(op, op->getOperands(), op->getResults());
      node.rule = std::move(*rule);
      if (auto ruleOp = dyn_cast<ShardingRuleOpInterface>(op)) {
        node.propagationClass = ruleOp.getPropagationClass();
        node.elementwise = ruleOp.isElementwise();
      }
    }
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
    GraphOp &node = addIdentity(edge, sources, edge.getResult());
    node.propagationClass = PropagationClass::PassThrough;
    // What counts is the use of the owner, and that is the edge's alone.
    node.onlyUser = true;
    if (dataFlow)
      readBoundary(node, dataFlow.getManualBoundary(owner),
                   isa<BlockArgument>(owner));
  }

  /// The body's side of a class that is cut by hand is local: its sources
  /// where a result owns it, else the class itself.
  static void readBoundary(GraphOp &node,
                           std::optional<ManualBoundary> boundary,
                           bool isArgument) {
    if (!boundary)
      return;
    node.boundary = std::move(*boundary);
    node.inside.resize(node.tensors.size(), !isArgument);
    node.inside[node.tensors.size() - 1] = isArgument;
  }

  GraphOp &addOp(Operation *op, ValueRange operands, ValueRange results) {
    GraphOp node;
    for (Value value : llvm::concat<Value>(llvm::to_vector(operands),
                                           llvm::to_vector(results)))
      node.tensors.push_back(idOf(value));
    node.onlyUser = llvm::all_of(operands, [](Value operand) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      return !type || type.getRank() == 0 || operand.hasOneUse();
    });
    graph.ops.push_back(std::move(node));
    out.operations.push_back(op);
    return graph.ops.back();
  }

  GraphOp &addIdentity(Operation *op, ValueRange operands, Value result) {
    GraphOp &node = addOp(op, operands, result);
    node.rule = identityRule(
        cast<RankedTensorType>(result.getType()).getShape(), operands.size());
    return node;
  }

  void readReturn(Operation *op) {
    for (auto [value, result] : llvm::zip(op->getOperands(), functionResults)) {
      if (result == kNone)
        continue;
      GraphOp node;
      node.rule =
          identityRule(cast<RankedTensorType>(value.getType()).getShape());
      node.tensors = {idOf(value), result};
      node.propagationClass = PropagationClass::PassThrough;
      node.onlyUser = node.elementwise = true;
      graph.returns.push_back(std::move(node));
    }
  }

  //===--------------------------------------------------------------------===//
  // Connections
  //===--------------------------------------------------------------------===//

  void readGroup(ArrayRef<sdy::ShardingGroupOp> members) {
    SmallVector<int32_t> tensors;
    for (sdy::ShardingGroupOp member : members) {
      int32_t tensor = idOf(member.getInput());
      if (tensor == kNone || llvm::is_contained(tensors, tensor))
        continue;
      tensors.push_back(tensor);
      graph.tensors[tensor].group = graph.groups.size();
    }
    graph.groups.push_back(std::move(tensors));
  }

  /// The order in which neighbours become due: GraphTensor::neighbours.
  void connect() {
    for (auto [index, op] : llvm::enumerate(graph.ops))
      for (size_t i = op.rule.operands.size(); i < op.tensors.size(); ++i)
        addNeighbour(op.tensors[i], index);
    for (int32_t op : llvm::reverse(llvm::seq<int32_t>(0, graph.ops.size())))
      for (size_t i = 0; i < graph.ops[op].rule.operands.size(); ++i)
        addNeighbour(graph.ops[op].tensors[i], op);
  }

  void addNeighbour(int32_t tensor, int32_t op) {
    if (tensor == kNone)
      return;
    SmallVector<int32_t, 2> &neighbours = graph.tensors[tensor].neighbours;
    if (neighbours.empty() || neighbours.back() != op)
      neighbours.push_back(op);
  }

  ModuleGraph &out;
  PropagationGraph &graph;
  func::FuncOp func;
  /// Of `func`.
  SmallVector<int32_t> functionResults;
  llvm::DenseMap<Value, int32_t> ids;
  /// Of the targets of data-flow ops.
  llvm::DenseMap<Value, Value> edges;
};

ModuleGraph ModuleGraph::read(ModuleOp module) {
  ModuleGraph result;
  GraphReader(result).read(module);
  return result;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Export may trim an open dim of the boundary to full axes that divide it.
/// Where that might take away what was given, leaves a record of it.
void ModuleGraph::recordGiven(const Home &home, const Mesh &mesh) {
  auto argument = dyn_cast_or_null<BlockArgument>(home.value);
  func::FuncOp func =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : home.func;
  if (!home.attr || !func)
    return;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(argument ? argument.getType()
                                      : func.getResultTypes()[home.result])
          .getShape();
  bool mayBeTrimmed = false;
  for (auto [dim, size] : llvm::zip(home.sharding.dims, shape)) {
    bool full =
        llvm::all_of(dim.axes, [&](AxisRef axis) { return mesh.isFull(axis); });
    bool divides = dim.axes.prefixDividing(size) == dim.axes;
    mayBeTrimmed |= !dim.closed && !(full && divides);
  }
  if (!mayBeTrimmed)
    return;
  if (argument)
    func.setArgAttr(argument.getArgNumber(), sdy::kGivenShardingAttr,
                    home.attr);
  else
    func.setResultAttr(home.result, sdy::kGivenShardingAttr, home.attr);
}

void ModuleGraph::write() const {
  for (auto [home, tensor] : llvm::zip(homes, graph.tensors)) {
    if (home.mesh != kNone)
      recordGiven(home, sdy::toMesh(meshes[home.mesh].mesh));
    if (tensor.sharding == home.sharding)
      continue;
    const KnownMesh &mesh = meshes[tensor.mesh];
    bool hasName = home.attr && home.mesh == tensor.mesh;
    Attribute meshOrRef = hasName ? home.attr.getMeshOrRef() : mesh.meshOrRef;
    sdy::TensorShardingAttr attr =
        sdy::fromSharding(tensor.sharding, meshOrRef, mesh.mesh);
    if (home.value)
      sdy::setSharding(home.value, attr);
    else
      sdy::setFuncResultSharding(home.func, home.result, attr);
  }
}

void writeRuleAttribute(Operation *op, const FactorRule &rule) {
  // An iota's rule has no operands; the attribute wants at least one.
  if (!op->hasAttr(sdy::kShardingRuleAttr) && op->getNumOperands() != 0)
    op->setAttr(sdy::kShardingRuleAttr, sdy::fromRule(op->getContext(), rule));
}

void ModuleGraph::writeRules() const {
  for (auto [op, node] : llvm::zip(operations, graph.ops))
    if (isa<ShardingRuleOpInterface>(op))
      writeRuleAttribute(op, node.rule);
}

} // namespace shardonnay
