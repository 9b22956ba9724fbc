//go:build geosql_loadable

// The entry through which a host loads the extension.

#include "shim.h"
#include "api.h"

#include <stdlib.h>

#include "_cgo_export.h"

// Not exported, like all but the entries: a host makes the symbols of one extension
// known to the next, which would share its variable of this name with us.
SQLITE_EXTENSION_INIT1

// The oldest SQLite that has all the SQL of the ledger: unixepoch() is new in 3.38.
#define GS_OLDEST_NUMBER 3038000
#define GS_OLDEST "3.38.0"

// Returns why the host's SQLite cannot be used, or 0. The table of routines is shorter
// in older versions, and has holes if SQLite was built without a feature.
static const char *gs_lacks(const sqlite3_api_routines *api) {
  if (api->libversion_number() < GS_OLDEST_NUMBER) return "is older than " GS_OLDEST;
  if (!api->create_window_function) return "was built without window functions";
  if (!api->create_module_v2) return "was built without virtual tables";
  return 0;
}

// Every call goes through one table of routines. A process may hold several copies
// of SQLite, but what one has made must not be given to another.
static int gs_take_routines(const sqlite3_api_routines *api) {
  const sqlite3_api_routines *taken = 0;
  return __atomic_compare_exchange_n(&sqlite3_api, &taken, api, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST) ||
         taken == api;
}

#ifdef _WIN32
#define GS_ENTRY __declspec(dllexport) int
#else
#define GS_ENTRY __attribute__((visibility("default"))) int
#endif

// SQLite derives the name of the entry from that of the file. The build for tests has no other entry, so that nobody loads it
// as geosql.so.
#ifdef GEOSQL_TEST
#define GS_INIT sqlite3_geosqltest_init
#else
#define GS_INIT sqlite3_geosql_init
#endif

GS_ENTRY GS_INIT(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  gs_result r = {.code = SQLITE_ERROR};
  const char *lack = gs_lacks(api);
  if (gs_forked()) {
    *message = api->mprintf("%s", gs_fork_message);
  } else if (lack) {
    *message = api->mprintf("geosql: SQLite %s %s", api->libversion(), lack);
  } else if (!gs_take_routines(api)) {
    *message = api->mprintf("geosql: another copy of SQLite in this process has loaded it");
  } else {
    r.code = SQLITE_OK_LOAD_PERMANENTLY; // Go's runtime cannot be unloaded
    geosqlLoad(db, &r);
    if (r.code != SQLITE_OK_LOAD_PERMANENTLY) *message = api->mprintf("%s", r.big ? r.big : r.text);
    free(r.big);
  }
  return r.code;
}

#ifndef GEOSQL_TEST
// The name that a host looks for first, whatever the file is called.
GS_ENTRY sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  return GS_INIT(db, message, api);
}
#endif
