#include <kvpleat/kvpleat.h>

int main() {}
