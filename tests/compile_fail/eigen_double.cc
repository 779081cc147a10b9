// expect: kvpleat: Eigen matrices of float, Eigen::half or Eigen::bfloat16 are taken; cast others
#include <kvpleat/eigen.h>

kvpleat::TokenRows rows(const Eigen::MatrixXd& m) {
  return kvpleat::token_rows(m, 2, 4);
}
