// What bankcheck fit proposes for the access of the page.
#pragma once

#include <nlohmann/json.hpp>

#include "bankcheck/explorer/typed_access.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::explorer {

/// {"verdict", "passes", "ideal", "fixes": [{"change", "passes", "bytes", "code": [lines], "apply": {field: text}?}]},
/// the proposed fix first. `typed`: null if the access was pasted, so that nothing can be applied.
nlohmann::ordered_json fix_of(const predict::Prediction& prediction, const TypedAccess* typed, const TypedCode& code);

}  // namespace bankwise::explorer
