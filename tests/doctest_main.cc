// The one main of every test program. Besides doctest's summary it names the open cases that ran:
// their ids ("OC-88 ...") are what a reader of a log looks for.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstring>

namespace {

struct OpenCaseLines : doctest::IReporter {
  const doctest::ContextOptions& options;
  const doctest::TestCaseData* current = nullptr;

  explicit OpenCaseLines(const doctest::ContextOptions& in) : options(in) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData& test) override { current = &test; }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (std::strncmp(current->m_name, "OC-", 3) != 0) return;
    *options.cout << (stats.testCaseSuccess ? "[ ok ] " : "[fail] ") << current->m_name << '\n';
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("open_cases", 1, OpenCaseLines);
