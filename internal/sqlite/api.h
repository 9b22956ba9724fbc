// The part of SQLite's C interface that this project calls.
//
// The extension build takes it from the system's sqlite3ext.h, through which
// every call goes to the host's SQLite. The static build declares it here: the
// symbols are those of the SQLite that mattn/go-sqlite3 links into the same
// binary, so that one process never holds two copies (a second copy would
// cancel the first one's POSIX locks).
#ifndef GEOSQL_API_H
#define GEOSQL_API_H

#ifdef GEOSQL_LOADABLE

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#else

typedef long long sqlite3_int64;
typedef unsigned long long sqlite3_uint64;
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_module sqlite3_module;
typedef struct sqlite3_vtab sqlite3_vtab;
typedef struct sqlite3_vtab_cursor sqlite3_vtab_cursor;
typedef struct sqlite3_index_info sqlite3_index_info;
typedef struct sqlite3_backup sqlite3_backup;
typedef void (*sqlite3_destructor_type)(void *);

#define SQLITE_STATIC ((sqlite3_destructor_type)0)
#define SQLITE_TRANSIENT ((sqlite3_destructor_type)-1)

#define SQLITE_OK 0
#define SQLITE_DENY 1
#define SQLITE_ERROR 1
#define SQLITE_NOMEM 7
#define SQLITE_CONSTRAINT 19
#define SQLITE_MISUSE 21
#define SQLITE_ROW 100
#define SQLITE_DONE 101

#define SQLITE_INTEGER 1
#define SQLITE_FLOAT 2
#define SQLITE_TEXT 3
#define SQLITE_BLOB 4
#define SQLITE_NULL 5

#define SQLITE_UTF8 1

#define SQLITE_TXN_WRITE 2

#define SQLITE_DELETE 9
#define SQLITE_INSERT 18
#define SQLITE_PRAGMA 19
#define SQLITE_READ 20
#define SQLITE_SELECT 21
#define SQLITE_TRANSACTION 22
#define SQLITE_UPDATE 23
#define SQLITE_FUNCTION 31
#define SQLITE_SAVEPOINT 32
#define SQLITE_RECURSIVE 33

#define SQLITE_INDEX_CONSTRAINT_EQ 2
#define SQLITE_INDEX_SCAN_UNIQUE 1
#define SQLITE_VTAB_DIRECTONLY 3
#define SQLITE_FCNTL_VFSNAME 12
#define SQLITE_STMTSTATUS_VM_STEP 4

struct sqlite3_vtab {
  const sqlite3_module *pModule;
  int nRef;
  char *zErrMsg;
};
struct sqlite3_vtab_cursor {
  sqlite3_vtab *pVtab;
};
struct sqlite3_index_info {
  int nConstraint;
  struct sqlite3_index_constraint {
    int iColumn;
    unsigned char op;
    unsigned char usable;
    int iTermOffset;
  } *aConstraint;
  int nOrderBy;
  struct sqlite3_index_orderby {
    int iColumn;
    unsigned char desc;
  } *aOrderBy;
  struct sqlite3_index_constraint_usage {
    int argvIndex;
    unsigned char omit;
  } *aConstraintUsage;
  int idxNum;
  char *idxStr;
  int needToFreeIdxStr;
  int orderByConsumed;
  double estimatedCost;
  sqlite3_int64 estimatedRows;
  int idxFlags;
  sqlite3_uint64 colUsed;
};
struct sqlite3_module {
  int iVersion;
  int (*xCreate)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*xConnect)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*xBestIndex)(sqlite3_vtab *, sqlite3_index_info *);
  int (*xDisconnect)(sqlite3_vtab *);
  int (*xDestroy)(sqlite3_vtab *);
  int (*xOpen)(sqlite3_vtab *, sqlite3_vtab_cursor **);
  int (*xClose)(sqlite3_vtab_cursor *);
  int (*xFilter)(sqlite3_vtab_cursor *, int, const char *, int, sqlite3_value **);
  int (*xNext)(sqlite3_vtab_cursor *);
  int (*xEof)(sqlite3_vtab_cursor *);
  int (*xColumn)(sqlite3_vtab_cursor *, sqlite3_context *, int);
  int (*xRowid)(sqlite3_vtab_cursor *, sqlite3_int64 *);
  int (*xUpdate)(sqlite3_vtab *, int, sqlite3_value **, sqlite3_int64 *);
  int (*xBegin)(sqlite3_vtab *);
  int (*xSync)(sqlite3_vtab *);
  int (*xCommit)(sqlite3_vtab *);
  int (*xRollback)(sqlite3_vtab *);
  int (*xFindFunction)(sqlite3_vtab *, int, const char *,
                       void (**)(sqlite3_context *, int, sqlite3_value **), void **);
  int (*xRename)(sqlite3_vtab *, const char *);
  int (*xSavepoint)(sqlite3_vtab *, int);
  int (*xRelease)(sqlite3_vtab *, int);
  int (*xRollbackTo)(sqlite3_vtab *, int);
  int (*xShadowName)(const char *);
  int (*xIntegrity)(sqlite3_vtab *, const char *, const char *, int, char **);
};

const char *sqlite3_libversion(void);
void *sqlite3_malloc64(sqlite3_uint64);
void sqlite3_free(void *);
char *sqlite3_mprintf(const char *, ...);
int sqlite3_stricmp(const char *, const char *);
int sqlite3_strnicmp(const char *, const char *, int);
const char *sqlite3_errstr(int);

int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int sqlite3_close_v2(sqlite3 *);
int sqlite3_busy_timeout(sqlite3 *, int);
int sqlite3_extended_result_codes(sqlite3 *, int);
int sqlite3_extended_errcode(sqlite3 *);
const char *sqlite3_errmsg(sqlite3 *);
int sqlite3_get_autocommit(sqlite3 *);
int sqlite3_txn_state(sqlite3 *, const char *);
int sqlite3_db_readonly(sqlite3 *, const char *);
sqlite3_stmt *sqlite3_next_stmt(sqlite3 *, sqlite3_stmt *);
int sqlite3_stmt_busy(sqlite3_stmt *);
const char *sqlite3_sql(sqlite3_stmt *);
int sqlite3_stmt_status(sqlite3_stmt *, int, int);
const char *sqlite3_db_filename(sqlite3 *, const char *);
int sqlite3_uri_boolean(const char *, const char *, int);
int sqlite3_file_control(sqlite3 *, const char *, int, void *);
int sqlite3_total_changes(sqlite3 *);
void sqlite3_interrupt(sqlite3 *);
int sqlite3_complete(const char *);
int sqlite3_limit(sqlite3 *, int, int);
int sqlite3_db_config(sqlite3 *, int, ...);
sqlite3_int64 sqlite3_hard_heap_limit64(sqlite3_int64);
void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
int sqlite3_set_authorizer(sqlite3 *, int (*)(void *, int, const char *, const char *, const char *, const char *), void *);
int sqlite3_error_offset(sqlite3 *);
int sqlite3_keyword_name(int, const char **, int *);
int sqlite3_auto_extension(void (*)(void));
int sqlite3_cancel_auto_extension(void (*)(void));

sqlite3_backup *sqlite3_backup_init(sqlite3 *, const char *, sqlite3 *, const char *);
int sqlite3_backup_step(sqlite3_backup *, int);
int sqlite3_backup_finish(sqlite3_backup *);
int sqlite3_backup_remaining(sqlite3_backup *);
int sqlite3_backup_pagecount(sqlite3_backup *);

int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_reset(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);
int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
int sqlite3_bind_double(sqlite3_stmt *, int, double);
int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, sqlite3_destructor_type);
int sqlite3_bind_blob(sqlite3_stmt *, int, const void *, int, sqlite3_destructor_type);
int sqlite3_bind_null(sqlite3_stmt *, int);
int sqlite3_column_count(sqlite3_stmt *);
int sqlite3_data_count(sqlite3_stmt *);
const char *sqlite3_column_name(sqlite3_stmt *, int);
const char *sqlite3_column_decltype(sqlite3_stmt *, int);
int sqlite3_bind_parameter_count(sqlite3_stmt *);
int sqlite3_clear_bindings(sqlite3_stmt *);
int sqlite3_column_type(sqlite3_stmt *, int);
sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
double sqlite3_column_double(sqlite3_stmt *, int);
const void *sqlite3_column_blob(sqlite3_stmt *, int);
const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
int sqlite3_column_bytes(sqlite3_stmt *, int);

int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *,
                               void (*)(sqlite3_context *, int, sqlite3_value **),
                               void (*)(sqlite3_context *, int, sqlite3_value **),
                               void (*)(sqlite3_context *), void (*)(void *));
int sqlite3_create_window_function(sqlite3 *, const char *, int, int, void *,
                                   void (*)(sqlite3_context *, int, sqlite3_value **),
                                   void (*)(sqlite3_context *), void (*)(sqlite3_context *),
                                   void (*)(sqlite3_context *, int, sqlite3_value **),
                                   void (*)(void *));
int sqlite3_create_module_v2(sqlite3 *, const char *, const sqlite3_module *, void *,
                             void (*)(void *));
int sqlite3_declare_vtab(sqlite3 *, const char *);
int sqlite3_vtab_config(sqlite3 *, int, ...);
void *sqlite3_user_data(sqlite3_context *);
void *sqlite3_aggregate_context(sqlite3_context *, int);
void *sqlite3_get_auxdata(sqlite3_context *, int);
void sqlite3_set_auxdata(sqlite3_context *, int, void *, void (*)(void *));

int sqlite3_value_type(sqlite3_value *);
sqlite3_int64 sqlite3_value_int64(sqlite3_value *);
double sqlite3_value_double(sqlite3_value *);
const void *sqlite3_value_blob(sqlite3_value *);
const unsigned char *sqlite3_value_text(sqlite3_value *);
int sqlite3_value_bytes(sqlite3_value *);

void sqlite3_result_null(sqlite3_context *);
void sqlite3_result_int64(sqlite3_context *, sqlite3_int64);
void sqlite3_result_double(sqlite3_context *, double);
void sqlite3_result_text(sqlite3_context *, const char *, int, sqlite3_destructor_type);
void sqlite3_result_blob(sqlite3_context *, const void *, int, sqlite3_destructor_type);
void sqlite3_result_error(sqlite3_context *, const char *, int);
void sqlite3_result_error_code(sqlite3_context *, int);

#endif
#endif
