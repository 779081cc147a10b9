#include "kvpleat/core/status.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace kvpleat;

TEST_CASE("every status has a text of its own") {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(Status::kNeedsReprofile); ++i)
    texts.insert(to_string(static_cast<Status>(i)));
  CHECK(texts.size() == static_cast<std::size_t>(Status::kNeedsReprofile) + 1);
  CHECK(texts.count("unknown") == 0);
  CHECK(std::string(to_string(static_cast<Status>(200))) == "unknown");
  CHECK(ok(Status::kOk));
  CHECK(!ok(Status::kInvalid));
  static_assert(static_cast<int>(Status::kOk) == 0);
}

TEST_CASE("an error carries a status and a name, cut where it is too long") {
  const Error none;
  CHECK(ok(none.status));
  CHECK(none.name().empty());
  const Error error(Status::kInvalid, "kv_heads");
  CHECK(error.name() == "kv_heads");
  const std::string name(100, 'x');
  const Error cut(Status::kRange, name);
  CHECK(cut.name() == std::string(55, 'x'));
  CHECK(cut.field[55] == '\0');
}
