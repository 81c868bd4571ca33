//===- Shardonnay.cpp - the compiler from C -------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardonnay/capi/Shardonnay.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "shardonnay/algebra/Layout.h"
#include "shardonnay/analysis/SourceLocation.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/dialect/sdy/Ops.h"
#include "shardonnay/dialect/sdy/ShardingAccess.h"
#include "shardonnay/dialect/sdy/ShardingVerifier.h"
#include "shardonnay/pipeline/BoolElements.h"
#include "shardonnay/pipeline/ParseProgram.h"
#include "shardonnay/pipeline/Pipelines.h"
#include "shardonnay/pipeline/Registration.h"
#include "shardonnay/pipeline/SealedBytecode.h"
#include <mutex>

using namespace mlir;
using namespace shardonnay;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct ShardonnayContext {
  ShardonnayContext(const DialectRegistry &registry)
      : mlir(registry, MLIRContext::Threading::DISABLED) {}

  InFlightDiagnostic error() { return emitError(UnknownLoc::get(&mlir)); }

  MLIRContext mlir;
};

struct ShardonnayModule {
  ShardonnayContext *context;
  OwningOpRef<ModuleOp> module;
  std::string text, bytecode;
};

struct ShardonnayMesh {
  ShardonnayContext *context;
  sdy::MeshAttr attr;
  std::string text;
};

struct ShardonnaySharding {
  ShardonnayContext *context;
  sdy::TensorShardingAttr attr;
  std::string text;
};

struct ShardonnayPipeline {
  ShardonnayContext *context;
  PassManager passes;
};

namespace {

ShardonnayString toC(StringRef text) { return {text.data(), text.size()}; }

StringRef fromC(const char *data, size_t length) {
  return data ? StringRef(data, length) : StringRef();
}

ShardonnaySeverity toC(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return ShardonnayNote;
  case DiagnosticSeverity::Remark:
    return ShardonnayRemark;
  case DiagnosticSeverity::Warning:
    return ShardonnayWarning;
  case DiagnosticSeverity::Error:
    return ShardonnayError;
  }
  llvm_unreachable("no such severity");
}

void report(Diagnostic &diagnostic, ShardonnayDiagnosticHandler handler,
            void *userData) {
  std::string location = getSourceLocation(diagnostic.getLocation()).line;
  std::string message = diagnostic.str();
  handler(toC(diagnostic.getSeverity()), toC(location), toC(message), userData);
  for (Diagnostic &note : diagnostic.getNotes())
    report(note, handler, userData);
}

/// What `value` prints without the prefix that names its kind.
std::string printBody(Attribute value, StringRef prefix) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return StringRef(text).starts_with(prefix) ? text.substr(prefix.size())
                                             : text;
}

constexpr llvm::StringLiteral kMesh("#sdy.mesh"), kSharding("#sdy.sharding");

/// The attribute that `text` is the body of; null, and an error, if it is none.
template <typename AttrT>
AttrT parseBody(ShardonnayContext *context, StringRef prefix, StringRef text) {
  Attribute attr = parseAttribute((prefix + text).str(), &context->mlir);
  if (attr && !isa<AttrT>(attr))
    context->error() << "expected text of '" << prefix << "', got " << attr;
  return dyn_cast_if_present<AttrT>(attr);
}

/// The function that the outside calls; null if there is none.
func::FuncOp getEntry(const ShardonnayModule *module) {
  if (!module)
    return nullptr;
  for (auto func : module->module.get().getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      return func;
  return nullptr;
}

ShardonnaySharding *toHandle(ShardonnayContext *context,
                             sdy::TensorShardingAttr sharding) {
  return sharding ? new ShardonnaySharding{context, sharding, {}} : nullptr;
}

/// Whether a value of `type` may have `sharding` (null: none).
LogicalResult check(func::FuncOp entry, Type type,
                    sdy::TensorShardingAttr sharding) {
  if (!sharding)
    return success();
  return sdy::verifySharding(sharding, type, entry,
                             [&] { return entry.emitError("sharding: "); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

ShardonnayContext *shardonnayContextCreate(ShardonnayDiagnosticHandler handler,
                                           void *userData) {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto *context = new ShardonnayContext(registry);
  // Attributes are parsed without a program that would load the dialect.
  context->mlir.loadDialect<sdy::SdyDialect>();
  context->mlir.printOpOnDiagnostic(false);
  context->mlir.getDiagEngine().registerHandler(
      [handler, userData](Diagnostic &diagnostic) {
        if (handler)
          report(diagnostic, handler, userData);
      });
  return context;
}

void shardonnayContextDestroy(ShardonnayContext *context) { delete context; }

ShardonnayString shardonnayVersion() { return toC(SHARDONNAY_VERSION); }

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

ShardonnayModule *shardonnayModuleParse(ShardonnayContext *context,
                                        const char *data, size_t length,
                                        const char *name) {
  if (!context)
    return nullptr;
  OwningOpRef<ModuleOp> module =
      parseProgram(fromC(data, length), name ? name : "<input>", context->mlir);
  if (!module)
    return nullptr;
  return new ShardonnayModule{context, std::move(module), {}, {}};
}

void shardonnayModuleDestroy(ShardonnayModule *module) { delete module; }

ShardonnayModule *shardonnayModuleClone(const ShardonnayModule *module) {
  if (!module)
    return nullptr;
  return new ShardonnayModule{
      module->context, module->module.get().clone(), {}, {}};
}

ShardonnayString shardonnayModulePrint(ShardonnayModule *module,
                                       bool locations) {
  if (!module)
    return toC("");
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  module->text.clear();
  llvm::raw_string_ostream os(module->text);
  module->module->print(os, flags);
  unpackBoolElements(module->text);
  return toC(module->text);
}

ShardonnayString shardonnayModuleWriteBytecode(ShardonnayModule *module) {
  if (!module)
    return toC("");
  module->bytecode.clear();
  if (failed(writeSealedBytecode(*module->module, module->bytecode)))
    module->bytecode.clear();
  return toC(module->bytecode);
}

ShardonnayMesh *shardonnayModuleGetMesh(const ShardonnayModule *module,
                                        const char *name) {
  if (!module || !name)
    return nullptr;
  ModuleOp op = module->module.get();
  if (auto mesh = op.lookupSymbol<sdy::MeshOp>(name))
    return new ShardonnayMesh{module->context, mesh.getMesh(), {}};
  op.emitError() << "unknown mesh @" << name
                 << ", expected the name of an 'sdy.mesh' of the module";
  return nullptr;
}

size_t shardonnayModuleGetNumArguments(const ShardonnayModule *module) {
  func::FuncOp entry = getEntry(module);
  return entry ? entry.getNumArguments() : 0;
}

size_t shardonnayModuleGetNumResults(const ShardonnayModule *module) {
  func::FuncOp entry = getEntry(module);
  return entry ? entry.getNumResults() : 0;
}

ShardonnaySharding *
shardonnayModuleGetArgumentSharding(const ShardonnayModule *module,
                                    size_t argument) {
  if (argument >= shardonnayModuleGetNumArguments(module))
    return nullptr;
  return toHandle(module->context,
                  sdy::getSharding(getEntry(module).getArgument(argument)));
}

ShardonnaySharding *
shardonnayModuleGetResultSharding(const ShardonnayModule *module,
                                  size_t result) {
  if (result >= shardonnayModuleGetNumResults(module))
    return nullptr;
  return toHandle(module->context,
                  sdy::getFuncResultSharding(getEntry(module), result));
}

bool shardonnayModuleSetArgumentSharding(ShardonnayModule *module,
                                         size_t argument,
                                         const ShardonnaySharding *sharding) {
  if (argument >= shardonnayModuleGetNumArguments(module))
    return false;
  func::FuncOp entry = getEntry(module);
  sdy::TensorShardingAttr attr = sharding ? sharding->attr : nullptr;
  if (failed(check(entry, entry.getArgumentTypes()[argument], attr)))
    return false;
  sdy::setSharding(entry.getArgument(argument), attr);
  return true;
}

bool shardonnayModuleSetResultSharding(ShardonnayModule *module, size_t result,
                                       const ShardonnaySharding *sharding) {
  if (result >= shardonnayModuleGetNumResults(module))
    return false;
  func::FuncOp entry = getEntry(module);
  sdy::TensorShardingAttr attr = sharding ? sharding->attr : nullptr;
  if (failed(check(entry, entry.getResultTypes()[result], attr)))
    return false;
  sdy::setFuncResultSharding(entry, result, attr);
  return true;
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

ShardonnayMesh *shardonnayMeshParse(ShardonnayContext *context,
                                    const char *data, size_t length) {
  if (!context)
    return nullptr;
  auto attr = parseBody<sdy::MeshAttr>(context, kMesh, fromC(data, length));
  return attr ? new ShardonnayMesh{context, attr, {}} : nullptr;
}

ShardonnayMesh *shardonnayMeshCreate(ShardonnayContext *context, size_t numAxes,
                                     const char *const *names,
                                     const int64_t *sizes, size_t numDeviceIds,
                                     const int64_t *deviceIds) {
  if (!context || (numAxes && (!names || !sizes)) ||
      (numDeviceIds && !deviceIds))
    return nullptr;
  auto emitError = [&] { return context->error() << "mesh: "; };
  SmallVector<sdy::MeshAxisAttr> axes;
  for (size_t i = 0; i < numAxes; ++i) {
    if (!names[i])
      return nullptr;
    axes.push_back(sdy::MeshAxisAttr::getChecked(
        emitError, &context->mlir, StringRef(names[i]), sizes[i]));
    if (!axes.back())
      return nullptr;
  }
  ArrayRef<int64_t> ids(deviceIds, numDeviceIds);
  auto attr =
      sdy::MeshAttr::getChecked(emitError, &context->mlir, ArrayRef(axes), ids);
  return attr ? new ShardonnayMesh{context, attr, {}} : nullptr;
}

void shardonnayMeshDestroy(ShardonnayMesh *mesh) { delete mesh; }

ShardonnayString shardonnayMeshPrint(ShardonnayMesh *mesh) {
  if (!mesh)
    return toC("");
  mesh->text = printBody(mesh->attr, kMesh);
  return toC(mesh->text);
}

size_t shardonnayMeshGetNumAxes(const ShardonnayMesh *mesh) {
  return mesh ? mesh->attr.getAxes().size() : 0;
}

ShardonnayString shardonnayMeshGetAxisName(const ShardonnayMesh *mesh,
                                           size_t axis) {
  if (axis >= shardonnayMeshGetNumAxes(mesh))
    return toC("");
  return toC(mesh->attr.getAxes()[axis].getName());
}

int64_t shardonnayMeshGetAxisSize(const ShardonnayMesh *mesh, size_t axis) {
  return axis < shardonnayMeshGetNumAxes(mesh)
             ? mesh->attr.getAxes()[axis].getSize()
             : 0;
}

int64_t shardonnayMeshGetNumDevices(const ShardonnayMesh *mesh) {
  return mesh ? mesh->attr.getNumDevices() : 0;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

ShardonnaySharding *shardonnayShardingParse(ShardonnayContext *context,
                                            const char *data, size_t length) {
  if (!context)
    return nullptr;
  return toHandle(context, parseBody<sdy::TensorShardingAttr>(
                               context, kSharding, fromC(data, length)));
}

void shardonnayShardingDestroy(ShardonnaySharding *sharding) {
  delete sharding;
}

ShardonnayString shardonnayShardingPrint(ShardonnaySharding *sharding) {
  if (!sharding)
    return toC("");
  sharding->text = printBody(sharding->attr, kSharding);
  return toC(sharding->text);
}

size_t shardonnayShardingGetRank(const ShardonnaySharding *sharding) {
  return sharding ? sharding->attr.getRank() : 0;
}

bool shardonnayShardingIsOpen(const ShardonnaySharding *sharding, size_t dim) {
  return dim < shardonnayShardingGetRank(sharding) &&
         !sharding->attr.getDimShardings()[dim].getIsClosed();
}

bool shardonnayShardingEqual(const ShardonnaySharding *left,
                             const ShardonnaySharding *right) {
  if (!left || !right)
    return left == right;
  // Attributes of two contexts are never the same object.
  return left->context == right->context
             ? left->attr == right->attr
             : printBody(left->attr, "") == printBody(right->attr, "");
}

bool shardonnayShardingGetSlice(const ShardonnaySharding *sharding,
                                const ShardonnayMesh *mesh, size_t rank,
                                const int64_t *shape, int64_t device,
                                int64_t *starts, int64_t *limits) {
  if (!sharding || !mesh || sharding->context != mesh->context ||
      (rank && (!shape || !starts || !limits)))
    return false;
  ShardonnayContext *context = sharding->context;
  ArrayRef<int64_t> sizes(shape, rank);
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return context->error() << "slice: expected dims of at least 0", false;
  // The sharding on the mesh that its name stands for, and a value to hold it.
  sdy::TensorShardingAttr attr = sharding->attr;
  MLIRContext *mlir = &context->mlir;
  Builder builder(mlir);
  if (attr.getMeshSymbol())
    attr = sdy::TensorShardingAttr::get(
        mlir, mesh->attr, attr.getDimShardings(), attr.getReplicatedAxes(),
        attr.getUnreducedAxes(), attr.getReductionKind());
  OwningOpRef<ModuleOp> place(ModuleOp::create(UnknownLoc::get(mlir)));
  if (failed(sdy::verifySharding(
          attr, RankedTensorType::get(sizes, builder.getI1Type()), *place,
          [&] { return context->error() << "slice: "; })))
    return false;
  auto meshAttr = cast<sdy::MeshAttr>(attr.getMeshOrRef());
  Mesh devices = sdy::toMesh(meshAttr);
  for (int64_t position = 0; position < devices.numDevices(); ++position) {
    if (devices.deviceAt(position) != device)
      continue;
    Layout layout = meshAttr.getAxes().empty()
                        ? Layout::replicated(sizes)
                        : Layout::get(sdy::toSharding(attr, meshAttr), sizes);
    for (auto [dim, interval] :
         llvm::enumerate(layout.sliceOf(devices, position, sizes))) {
      starts[dim] = interval.start;
      limits[dim] = interval.limit;
    }
    return true;
  }
  return context->error() << "slice: device " << device
                          << " is not in the mesh " << meshAttr,
         false;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

ShardonnayPipeline *shardonnayPipelineCreate(ShardonnayContext *context) {
  if (!context)
    return nullptr;
  return new ShardonnayPipeline{
      context, PassManager(&context->mlir, ModuleOp::getOperationName())};
}

void shardonnayPipelineDestroy(ShardonnayPipeline *pipeline) {
  delete pipeline;
}

bool shardonnayPipelineAddStages(ShardonnayPipeline *pipeline,
                                 const char *stage) {
  if (!pipeline || !stage)
    return false;
  std::optional<Stage> last = parseStage(stage);
  if (!last) {
    InFlightDiagnostic error = pipeline->context->error();
    error << "unknown stage '" << stage << "', expected one of";
    for (Stage known : allStages())
      error << " " << toString(known);
    return false;
  }
  for (Stage next : allStages())
    if (next <= *last)
      addStage(pipeline->passes, next, {});
  return true;
}

bool shardonnayPipelineAddPasses(ShardonnayPipeline *pipeline,
                                 const char *passes) {
  if (!pipeline || !passes)
    return false;
  static std::once_flag registered;
  std::call_once(registered, [] {
    registerAllPasses();
    registerAllPipelines();
  });
  std::string message;
  llvm::raw_string_ostream os(message);
  if (succeeded(parsePassPipeline(passes, pipeline->passes, os)))
    return true;
  pipeline->context->error() << "passes '" << passes << "': " << message;
  return false;
}

bool shardonnayPipelineRun(ShardonnayPipeline *pipeline,
                           ShardonnayModule *module) {
  if (!pipeline || !module)
    return false;
  if (pipeline->context != module->context) {
    pipeline->context->error()
        << "the pipeline and the module are of different contexts: parse the "
           "module in the pipeline's";
    return false;
  }
  return succeeded(pipeline->passes.run(*module->module));
}
