# Defines kvpleat::kernels: the unit of vector kernels for programs that include kvpleat/dispatch.h, compiled in the
# build that includes this, with its flags. Needs Highway and its library (Debian: libhwy-dev). Included by our own
# CMakeLists.txt and by the installed config.
if(NOT TARGET kvpleat_kernels)
  # GLOBAL: whoever links kvpleat::kernels, in whatever folder, links Highway.
  find_package(HWY QUIET GLOBAL)
  if(TARGET hwy::hwy)
    add_library(kvpleat_kernels STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/kernels.cc")
    add_library(kvpleat::kernels ALIAS kvpleat_kernels)
    target_link_libraries(kvpleat_kernels PUBLIC kvpleat::kvpleat PRIVATE hwy::hwy)
    # -O3 compiles several times as long and the kernels gain nothing: their loops are unrolled by hand.
    target_compile_options(kvpleat_kernels PRIVATE
      "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang,AppleClang>>:-O2>")
    # It may end in a shared library.
    set_target_properties(kvpleat_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  elseif(PROJECT_IS_TOP_LEVEL AND PROJECT_NAME STREQUAL "kvpleat")
    message(STATUS "kvpleat: Highway not found; vector kernels are not built")
  elseif(kvpleat_FIND_COMPONENTS)
    set(kvpleat_FOUND FALSE)
    set(kvpleat_NOT_FOUND_MESSAGE "component kernels needs Highway (HWY), which was not found")
  else()
    message(FATAL_ERROR "kvpleat: KVPLEAT_KERNELS needs Highway (HWY), which was not found")
  endif()
endif()
