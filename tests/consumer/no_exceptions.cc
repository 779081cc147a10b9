#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this scenario is about -fno-exceptions -fno-rtti"
#endif

#include <cstdio>
#include <utility>

#include "caches.h"

using Cache = kvpleat::KvCache<consumer::Mixed>;
using kvpleat::TokenRows;

// Nothing that an engine calls may throw.
static_assert(noexcept(Cache::create({})));
static_assert(noexcept(std::declval<Cache&>().append(0, TokenRows(), TokenRows())));
static_assert(noexcept(std::declval<Cache&>().commit(0, 0, {})));
static_assert(noexcept(std::declval<Cache&>().flush()));
static_assert(noexcept(std::declval<Cache&>().truncate(0)));
static_assert(noexcept(std::declval<const Cache&>().read(0, 0, 0, 0, nullptr, nullptr)));
static_assert(noexcept(std::declval<const Cache&>().memory()));
static_assert(noexcept(attend(std::declval<const Cache&>(), 0, 0, {}, nullptr)));

int main() {
  consumer::Answer answer;
  consumer::RunOf<consumer::Mixed>::answer(answer);

  // Errors are values, and name what is wrong.
  auto refused = Cache::create({.layers = 1, .kv_heads = 0, .max_tokens = 8});
  const bool named = !refused && refused.error().name() == "kv_heads";
  std::printf("%s, bytes %016llx, without kv_heads: %s\n", answer.tag,
              static_cast<unsigned long long>(answer.bytes), to_string(refused.error().status));
  return answer.ok && named ? 0 : 1;
}
