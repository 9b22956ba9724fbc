//go:build unix

// What the shim asks of the operating system, as Unix has it.

#include "shim.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach/vm_inherit.h>
#endif

// A page that the kernel takes from a child: wiped, as here for gs_alive to say so, or where no
// kernel does that, absent. Then a child whose fork ran no handler (_Fork, a bare system call)
// crashes, but it never releases the noise of its parent.
static int gs_take_from_child(int *page, size_t size) {
#if defined MADV_WIPEONFORK
  return madvise(page, size, MADV_WIPEONFORK) == 0;
#elif defined __APPLE__
  return minherit(page, size, VM_INHERIT_NONE) == 0;
#else
  (void)page, (void)size;
  return 0;
#endif
}

static int gs_dead = 0;
static void gs_mark_forked(void) { gs_alive = &gs_dead; }
__attribute__((constructor)) static void gs_watch_fork(void) {
  size_t size = sysconf(_SC_PAGESIZE);
  int *page = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (page != MAP_FAILED && gs_take_from_child(page, size)) {
    *page = 1;
    gs_alive = page;
  }
  pthread_atfork(0, 0, gs_mark_forked);
}

#ifndef GEOSQL_LOADABLE
static __thread int gs_own = 0;
int gs_opening(void) { return gs_own; }
void gs_set_opening(int opening) { gs_own = opening; }
#endif

int64_t gs_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
