// The interface between Go and C. A call of an SQL function crosses once from C to
// Go: the shim unpacks SQLite's values into an array on its stack, where Go reads
// them, and Go writes the result in place. The rows of an aggregate cross many at a
// time, a row of a window function when SQLite asks for its answer.
#ifndef GEOSQL_SHIM_H
#define GEOSQL_SHIM_H

#include <stdint.h>

enum { GS_MAX_ARGS = 12, GS_MAX_COLUMNS = 12, GS_INLINE = 104, GS_SCOPE = -0x67656f };

// An argument. Text and blobs point into SQLite's memory and live for the call.
typedef struct {
  int type;
  int n;
  union {
    int64_t i;
    double d;
    const void *p;
  } u;
} gs_value;

// A result. Text and blobs shorter than GS_INLINE bytes are written in place, longer
// ones are malloc'ed by Go and freed by the shim. An error is text with code != 0.
typedef struct {
  int type;
  int n;
  int code;
  double d;
  int64_t i;
  char *big;
  char text[GS_INLINE];
} gs_result;

// The C side of a registered function, with the Go binding that it calls.
typedef struct {
  int binding;
  int scope; // index of its statement scope; 0 for none
  int varying; // of an aggregate: how many arguments come anew with each row
  const int *failures; // of calls on the connection so far; Go counts them
  struct gs_batch *spare;
} gs_function;

// Declared columns of a table-valued function.
typedef struct {
  int binding;
  int direct_only;
  int single_row; // one row at most for given arguments
  int columns;  // visible
  int required; // hidden arguments that must be given
  int optional; // hidden arguments that may be given
  char schema[512];
} gs_table;

// What is noted about the statements that a connection compiles.
typedef struct {
  int seen;          // whether one of them calls one of the functions
  int declares;      // whether one of them may change which tables, or which sealed columns, there are
  const char *names; // of the functions, each with its terminating NUL, and an empty one
} gs_watch;

// A statement that has begun and not ended.
typedef struct {
  void *stmt;
  const char *sql; // 0 if a legacy function has prepared it
  int columns;     // of its rows
  int returned;    // columns of the row that it has returned last, see gs_tells_rows
  int steps;       // instructions that its calls of sqlite3_step have executed which have returned
} gs_running;

// What the statements of a connection may do. The lists are of names in lower case, each with its
// terminating NUL and with an empty one at the end, but for functions, which are sorted.
typedef struct {
  int lifted;            // whether everything is allowed, to statements of the program itself
  int action;            // that was denied last; 0 if none was
  int timed_out;         // whether a statement took longer than patience
  int64_t patience;      // nanoseconds that what runs may take from since on; 0 for any
  int64_t since;         // when the clock was first looked at; 0 if it was not
  char name[256];        // what the action was about
  char **functions;      // that may be called
  int nfunctions;
  const char *tables;    // of the main database, that are not hidden although they look like it
  const char *modules;   // of virtual tables, that may not be read
} gs_guard;

// sqlite3 and sqlite3_stmt cross as void*: Go only hands them back.
int gs_open(const char *path, int flags, void **db);
int gs_close(void *db);
int gs_busy_timeout(void *db, int ms);
int gs_errcode(void *db);
const char *gs_errmsg(void *db);
int gs_error_offset(void *db); // -1 if SQLite does not say where in the text
const char *gs_errstr(int code);
int gs_autocommit(void *db);
int gs_writing(void *db);
int gs_uncommitted(void *db);
int gs_reading(void *db, const char *name);
int gs_readonly(void *db);
int gs_running_at(void *db, int i, gs_running *r);
int gs_tells_rows(void *db);
int gs_unlocked(void *db, const char *name);
int gs_named(void *db, const char *name);
int gs_total_changes(void *db);
int gs_set_watch(void *db, gs_watch *w); // 0 for none
int gs_set_guard(void *db, gs_guard *g); // 0 for none
int gs_may_read(const gs_guard *g, const char *table, const char *database);
int gs_limit(void *db, int limit, int most);
int gs_configure(void *db, int option, int on);
int64_t gs_limit_heap(int64_t bytes);
const char *gs_filename(void *db, char *vfs, int n);
void gs_interrupt(void *db);
int gs_complete(const char *sql);
const char *gs_libversion(void);
int gs_auto(void); // of the static build, as the next two
int gs_cancel_auto(void);
const char *gs_keyword(int i, int *n);
int gs_forked(void); // this process is a child of the one that loaded the library
extern int *gs_alive;
extern const char gs_fork_message[];
int64_t gs_now(void); // nanoseconds by a clock that nobody sets
// Whether this thread opens a connection of the library's own: automatic registration, which is the static build's, leaves
// the ledger's alone.
#ifdef GEOSQL_LOADABLE
static inline void gs_set_opening(int opening) { (void)opening; }
#else
int gs_opening(void);
void gs_set_opening(int opening);
#endif

void *gs_backup_init(void *to, void *from);
int gs_backup_step(void *backup, int pages);
int gs_backup_finish(void *backup);
int gs_backup_remaining(void *backup);
int gs_backup_pages(void *backup);

int gs_prepare(void *db, const char *sql, int n, void **stmt, int *tail);
int gs_step(void *stmt);
int gs_reset(void *stmt);
int gs_finalize(void *stmt);
int gs_bind_int64(void *stmt, int i, const int64_t *v, int n);
int gs_bind_double(void *stmt, int i, double v);
int gs_bind_text(void *stmt, int i, const char *s, int n);
int gs_bind_blob(void *stmt, int i, const char *b, int n);
int gs_bind_null(void *stmt, int i);
int gs_column_count(void *stmt);
const char *gs_column_name(void *stmt, int i);
const char *gs_column_decltype(void *stmt, int i); // 0 for an expression
int gs_parameter_count(void *stmt);
int gs_clear_bindings(void *stmt);
void gs_columns(void *stmt, int i, gs_value *v, int n);

// Rows in bulk. A row is its cells one after another. A cell is a byte with its type, and then
// the 8 bytes of a number, or 4 bytes with a length and that many bytes; nothing for NULL.
int gs_fetch(void *stmt, int columns, int waiting, unsigned char *to, int size, int *used, int *rows);
int gs_insert(void *stmt, int columns, const unsigned char *from, int rows);

int gs_create_scalar(void *db, const char *name, int nargs, int flags, int binding, int scope, const int *failures);
int gs_create_aggregate(void *db, const char *name, int nargs, int varying, int windowed, int flags, int binding, int scope,
                        const int *failures);
int gs_create_window(void *db, const char *name, int nargs, int flags, int binding, int scope, const int *failures);
int gs_create_table(void *db, const char *name, const gs_table *table);

#endif
