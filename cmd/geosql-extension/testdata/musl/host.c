// Loads a library as SQLite does, and says what the linker has against it.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  puts(library ? "loaded" : dlerror());
  return library == NULL;
}
