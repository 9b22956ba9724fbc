// What the shim asks of the operating system, as Windows has it. There are no forks, so nobody writes gs_alive.

#include "shim.h"

#include <stdlib.h>
#include <windows.h>

#ifndef GEOSQL_LOADABLE
// A variable of C for each thread would be one of gcc's own making, in a library that Windows lacks.
static DWORD gs_own;
__attribute__((constructor)) static void gs_take_slot(void) {
  gs_own = TlsAlloc();
  if (gs_own == TLS_OUT_OF_INDEXES) abort(); // of more than a thousand
}
int gs_opening(void) { return TlsGetValue(gs_own) != 0; }
void gs_set_opening(int opening) { TlsSetValue(gs_own, (void *)(intptr_t)opening); }
#endif

int64_t gs_now(void) {
  ULONGLONG t; // of 100 nanoseconds
  QueryUnbiasedInterruptTime(&t);
  return (int64_t)t * 100;
}
