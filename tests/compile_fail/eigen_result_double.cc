// expect: kvpleat: Eigen matrices of float, Eigen::half or Eigen::bfloat16 are taken; cast others
#include <kvpleat/cache/presets.h>
#include <kvpleat/eigen.h>

using Cache = kvpleat::KvCache<kvpleat::presets::Int8<8>>;

kvpleat::Status run(const Cache& cache, const Eigen::MatrixXf& q, Eigen::MatrixXd& out) {
  return kvpleat::attend(cache, 0, 0, q, {}, out);
}
