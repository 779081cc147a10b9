// expect: kvpleat: token_rows takes a matrix, map or block that lies in memory: evaluate an
#include <kvpleat/eigen.h>

kvpleat::TokenRows rows(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) {
  return kvpleat::token_rows(a + b, 2, 4);
}
