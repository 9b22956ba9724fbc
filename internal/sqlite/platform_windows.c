// What the shim asks of the operating system, as Windows has it. There are no forks, so nobody writes gs_alive.

#include "shim.h"

#include <windows.h>

int64_t gs_now(void) {
  ULONGLONG t; // of 100 nanoseconds
  QueryUnbiasedInterruptTime(&t);
  return (int64_t)t * 100;
}
