// A host that offers the extension tables of routines it must not work with, and
// then its own. Arguments: the extension, another copy of SQLite. Writes a line for
// each attempt.
#define _GNU_SOURCE
#define SQLITE_CORE 1 // the routines' types, but no detour of our own calls
#include <dlfcn.h>
#include <sqlite3ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*entry)(sqlite3 *, char **, const sqlite3_api_routines *);

static void *need(void *p) {
  if (!p) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return p;
}

static int old_number(void) { return 3037002; }
static const char *old_name(void) { return "3.37.2"; }
static const char *new_name(void) { return "9.9.9"; }

static void attempt(const char *path, const sqlite3_api_routines *api) {
  char *message = 0;
  entry load = (entry)need(dlsym(need(dlopen(path, RTLD_NOW | RTLD_GLOBAL)), "sqlite3_geosql_init"));
  int code = load(0, &message, api);
  printf("%d %s\n", code, message);
  sqlite3_free(message);
}

#define CALL(library, name) ((typeof(&name))need(dlsym(library, #name)))

static void load_through(void *library, const char *path) {
  sqlite3 *db;
  char *message = 0;
  int code;
  CALL(library, sqlite3_open)(":memory:", &db);
  CALL(library, sqlite3_db_config)(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)0);
  code = CALL(library, sqlite3_load_extension)(db, path, 0, &message);
  printf("%d %s\n", code, message);
  code = CALL(library, sqlite3_exec)(db, "SELECT geosql_version()", 0, 0, 0);
  printf("%d\n", code);
  CALL(library, sqlite3_free)(message);
  CALL(library, sqlite3_close)(db);
}

int main(int argc, char **argv) {
  sqlite3_api_routines api;
  void *other;
  if (argc != 3) return 2;
  memset(&api, 0, sizeof api);
  api.mprintf = sqlite3_mprintf;
  api.libversion = old_name;
  api.libversion_number = old_number;
  attempt(argv[1], &api);
  api.libversion = new_name;
  api.libversion_number = sqlite3_libversion_number;
  attempt(argv[1], &api);
  api.create_window_function = sqlite3_create_window_function;
  attempt(argv[1], &api);
  load_through(RTLD_DEFAULT, argv[1]);
  other = need(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND));
  load_through(other, argv[1]);
  load_through(RTLD_DEFAULT, argv[1]);
  return 0;
}
