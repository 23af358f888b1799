// A stand-in for CUPTI, libcupti.so.13, as far as the timing library calls it. FAKE_CUPTI_LAUNCHES lists the launches
// that it tells of when it is flushed: "name grid_x grid_y grid_z block_x block_y block_z start end;...".
// FAKE_CUPTI_FAIL names a function that fails.
#include <cupti.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <sstream>
#include <string>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
bool told = false;

CUptiResult result_of(const char* function) {
  const char* failing = std::getenv("FAKE_CUPTI_FAIL");
  return failing != nullptr && std::strcmp(failing, function) == 0 ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc on_request,
                                                    CUpti_BuffersCallbackCompleteFunc on_complete) {
  request = on_request;
  complete = on_complete;
  return result_of("cuptiActivityRegisterCallbacks");
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? result_of("cuptiActivityEnable") : CUPTI_ERROR_INVALID_KIND;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t /*flag*/) {
  const char* launches = std::getenv("FAKE_CUPTI_LAUNCHES");
  if (told || launches == nullptr) return CUPTI_SUCCESS;
  told = true;
  uint8_t* buffer = nullptr;
  size_t bytes = 0, most = 0, used = 0;
  request(&buffer, &bytes, &most);
  static std::set<std::string> names;  // which live as long as the records
  std::istringstream list(launches);
  for (std::string text; std::getline(list, text, ';');) {
    auto* const kernel = new (buffer + used) CUpti_ActivityKernel9{};
    used += sizeof *kernel;
    std::istringstream fields(text);
    std::string name;
    int sides[6];
    std::uint64_t start = 0, end = 0;
    fields >> name;
    for (int& side : sides) fields >> side;
    fields >> start >> end;
    kernel->gridX = sides[0], kernel->gridY = sides[1], kernel->gridZ = sides[2];
    kernel->blockX = sides[3], kernel->blockY = sides[4], kernel->blockZ = sides[5];
    kernel->start = start, kernel->end = end;
    kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel->name = names.insert(name).first->c_str();
  }
  complete(nullptr, 0, buffer, bytes, used);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, CUpti_Activity** record) {
  auto* const next = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + sizeof(CUpti_ActivityKernel9);
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/, size_t* dropped) {
  *dropped = std::getenv("FAKE_CUPTI_DROPS") != nullptr ? 3 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = 1;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "fake: refused";
  return CUPTI_SUCCESS;
}

}  // extern "C"
