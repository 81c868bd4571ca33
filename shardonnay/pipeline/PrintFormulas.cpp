//===- PrintFormulas.cpp --------------------------------------------------===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Support/FileUtilities.h"
#include "shardonnay/analysis/SymbolicCosts.h"
#include "shardonnay/dialect/sdy/Conversion.h"
#include "shardonnay/pipeline/Passes.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace shardonnay {

#define GEN_PASS_DEF_PRINTFORMULASPASS
#include "shardonnay/pipeline/Passes.h.inc"

namespace {

class FormulaWriter {
public:
  explicit FormulaWriter(const SymbolicCosts &costs) : costs(costs) {
    if (!costs.mesh)
      return;
    for (sdy::MeshAxisAttr axis : costs.mesh.getAxes()) {
      names.push_back(axis.getName().str());
      sizes.push_back(axis.getSize());
    }
  }

  llvm::json::Value write();

private:
  llvm::json::Object entry(const AxisFormula &formula, StringRef number) {
    return llvm::json::Object{{"formula", formula.str(names)},
                              {number, formula.evaluate(sizes)}};
  }
  llvm::json::Array axes(const AxisList &list);

  const SymbolicCosts &costs;
  std::vector<std::string> names;
  SmallVector<int64_t> sizes;
};

llvm::json::Array FormulaWriter::axes(const AxisList &list) {
  llvm::json::Array array;
  for (AxisRef axis : list) {
    sdy::AxisRefAttr attr = sdy::fromAxisRef(axis, costs.mesh);
    array.push_back(attr.getSubAxisInfo() ? attr.toString()
                                          : attr.getName().str());
  }
  return array;
}

llvm::json::Value FormulaWriter::write() {
  llvm::json::Object mesh, byAxis;
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    mesh[name] = size;
  llvm::json::Array collectives;
  std::vector<AxisFormula> sums(names.size());
  for (const SymbolicCollective &collective : costs.collectives) {
    llvm::json::Object object = entry(collective.bytes, "bytes");
    object["kind"] = toString(collective.kind);
    object["axes"] = axes(collective.axes);
    object["count"] = collective.count;
    collectives.push_back(std::move(object));
    // A collective along several axes counts for each.
    llvm::SmallSet<int32_t, 4> along;
    for (AxisRef axis : collective.axes)
      if (along.insert(axis.axis).second)
        sums[axis.axis] = sums[axis.axis] + collective.bytes;
  }
  for (auto [name, sum] : llvm::zip_equal(names, sums))
    byAxis[name] = entry(sum, "bytes");
  return llvm::json::Object{
      {"mesh", std::move(mesh)},
      {"collectives", std::move(collectives)},
      {"by_axis", std::move(byAxis)},
      {"flops", entry(costs.flops, "flops")},
      {"redundant_flops", entry(costs.redundantFlops, "flops")},
      {"peak_bytes", entry(costs.peakBytes, "bytes")}};
}

struct PrintFormulasPass : impl::PrintFormulasPassBase<PrintFormulasPass> {
  using PrintFormulasPassBase::PrintFormulasPassBase;

  void runOnOperation() override {
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
    if (!file) {
      getOperation().emitError() << error << "; expected a file to write to";
      return signalPassFailure();
    }
    SymbolicCosts costs = readSymbolicCosts(getOperation());
    file->os() << llvm::formatv("{0:2}", FormulaWriter(costs).write()) << "\n";
    file->keep();
    markAllAnalysesPreserved();
  }
};

} // namespace

} // namespace shardonnay
