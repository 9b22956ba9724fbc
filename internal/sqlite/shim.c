#include "shim.h"
#include "api.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

// A forked child shares the parent's buffered entropy. Two processes would release
// the same noise, and the difference of their answers would reveal the secret. Go's
// runtime does not survive a fork either. So every entry fails in a child.
//
// The system of the process sees to it that what gs_alive points to is 0 in a child.
static int gs_word = 1;
int *gs_alive = &gs_word;
int gs_forked(void) { return !*gs_alive; }
const char gs_fork_message[] =
    "geosql: cannot be used in a forked child process (start a new process instead)";
static int gs_refuse_fork(sqlite3_context *ctx) {
  if (!gs_forked()) return 0;
  sqlite3_result_error(ctx, gs_fork_message, -1);
  return 1;
}

// ---- connections ----

int gs_open(const char *path, int flags, void **db) {
  gs_set_opening(1);
  int rc = sqlite3_open_v2(path, (sqlite3 **)db, flags, 0);
  gs_set_opening(0);
  if (rc == SQLITE_OK) sqlite3_extended_result_codes(*db, 1);
  return rc;
}
int gs_close(void *db) { return sqlite3_close_v2(db); }
int gs_busy_timeout(void *db, int ms) { return sqlite3_busy_timeout(db, ms); }
int gs_errcode(void *db) { return sqlite3_extended_errcode(db); }
const char *gs_errmsg(void *db) { return sqlite3_errmsg(db); }
// A host of the extension may be older than the function.
int gs_error_offset(void *db) {
#ifdef GEOSQL_LOADABLE
  (void)db;
  return -1;
#else
  return sqlite3_error_offset(db);
#endif
}
const char *gs_errstr(int code) { return sqlite3_errstr(code); }
int gs_autocommit(void *db) { return sqlite3_get_autocommit(db); }
int gs_reading(void *db, const char *name) { return sqlite3_txn_state(db, name) > 0; }
int gs_writing(void *db) { return sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE; }
int gs_uncommitted(void *db) {
  return !sqlite3_get_autocommit(db) && sqlite3_txn_state(db, 0) == SQLITE_TXN_WRITE;
}
int gs_readonly(void *db) { return sqlite3_db_readonly(db, "main"); }
static int gs_contains(const char *text, const char *name) {
  int n = (int)strlen(name);
  for (; *text; text++)
    if (!sqlite3_strnicmp(text, name, n)) return 1;
  return 0;
}
// A statement without text, prepared by a legacy function, may contain any name.
int gs_named(void *db, const char *name) {
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, 0); s; s = sqlite3_next_stmt(db, s)) {
    if (!sqlite3_stmt_busy(s)) continue;
    const char *sql = sqlite3_sql(s);
    if (!sql || gs_contains(sql, name)) return 1;
  }
  return 0;
}
// Describes the running statement with index i, or reports that there is none.
int gs_running_at(void *db, int i, gs_running *r) {
  for (sqlite3_stmt *s = sqlite3_next_stmt(db, 0); s; s = sqlite3_next_stmt(db, s)) {
    if (!sqlite3_stmt_busy(s) || i-- > 0) continue;
    r->stmt = s;
    r->sql = sqlite3_sql(s);
    r->columns = sqlite3_column_count(s);
    r->returned = sqlite3_data_count(s);
    r->steps = sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0);
    return 1;
  }
  return 0;
}
static void gs_told(sqlite3_context *ctx, int n, sqlite3_value **in) {
  (void)n, (void)in;
  sqlite3_result_int64(ctx, sqlite3_data_count(*(sqlite3_stmt **)sqlite3_user_data(ctx)));
}
// Reports whether data_count tells a function that its statement has returned a row before. It tries
// that on a connection which nobody else uses.
int gs_tells_rows(void *db) {
  const char *two = "SELECT 0 UNION ALL SELECT told()";
  sqlite3_stmt *s = 0;
  int told = sqlite3_create_function_v2(db, "told", 0, SQLITE_UTF8, &s, gs_told, 0, 0, 0) == SQLITE_OK &&
             sqlite3_prepare_v2(db, two, -1, &s, 0) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW &&
             sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) > 0;
  sqlite3_finalize(s);
  return told;
}
// Reports whether other connections may change a database while this one reads it, since nothing locks it.
int gs_unlocked(void *db, const char *name) {
  const char *file = sqlite3_db_filename(db, name);
  char *vfs = 0;
  int none = 0;
  if (sqlite3_file_control(db, name, SQLITE_FCNTL_VFSNAME, &vfs) == SQLITE_OK && vfs) {
    none = gs_contains(vfs, "-none");
    sqlite3_free(vfs);
  }
  return none || (file && (sqlite3_uri_boolean(file, "nolock", 0) || sqlite3_uri_boolean(file, "immutable", 0)));
}
int gs_total_changes(void *db) { return sqlite3_total_changes(db); }
void gs_interrupt(void *db) { sqlite3_interrupt(db); }
int gs_complete(const char *sql) { return sqlite3_complete(sql); }
const char *gs_libversion(void) { return sqlite3_libversion(); }

// Rolling back undoes a change of tables, so it is one.
static int gs_declares(int action, const char *a) {
  switch (action) {
  case SQLITE_SELECT: case SQLITE_READ: case SQLITE_FUNCTION: case SQLITE_RECURSIVE: case SQLITE_PRAGMA: return 0;
  case SQLITE_INSERT: case SQLITE_UPDATE: case SQLITE_DELETE:
    return a && (!sqlite3_strnicmp(a, "sqlite_", 7) || !sqlite3_stricmp(a, "geosql_sealed_column"));
  case SQLITE_TRANSACTION: case SQLITE_SAVEPOINT: return a && !sqlite3_stricmp(a, "ROLLBACK");
  }
  return 1;
}

// SQLite asks the authorizer about every function that a statement calls, also where a view or
// trigger calls it, and about the columns that it reads. A table-valued function is a table.
static int gs_note_call(void *watch, int action, const char *a, const char *b, const char *c, const char *d) {
  gs_watch *w = watch;
  w->declares |= gs_declares(action, a);
  const char *name = action == SQLITE_FUNCTION ? b : action == SQLITE_READ ? a : 0;
  (void)c, (void)d;
  if (!name || w->seen) return SQLITE_OK;
  for (const char *n = w->names; *n && !w->seen; n += strlen(n) + 1) w->seen = !sqlite3_stricmp(n, name);
  return SQLITE_OK;
}
int gs_set_watch(void *db, gs_watch *w) { return sqlite3_set_authorizer(db, w ? gs_note_call : 0, w); }

static int gs_listed(const char *list, const char *name) {
  for (; *list; list += strlen(list) + 1)
    if (!sqlite3_stricmp(list, name)) return 1;
  return 0;
}
// A statement that calls much would take twenty times as long to prepare if this looked at each name in turn.
static int gs_may_call(const gs_guard *g, const char *name) {
  for (int lo = 0, hi = g->nfunctions; lo < hi;) {
    int mid = (lo + hi) / 2, order = sqlite3_stricmp(name, g->functions[mid]);
    if (order == 0) return 1;
    if (order < 0) hi = mid;
    else lo = mid + 1;
  }
  return 0;
}
// The database is 0 where SQLite does not say it: a table, or a subquery, of which no column is read.
int gs_may_read(const gs_guard *g, const char *table, const char *database) {
  if (database && sqlite3_stricmp(database, "main"))
    return !sqlite3_stricmp(database, "pg_catalog") || !sqlite3_stricmp(database, "information_schema") ||
      !sqlite3_stricmp(database, "geosql");
  if (!sqlite3_strnicmp(table, "sqlite_", 7) || !sqlite3_strnicmp(table, "pragma_", 7)) return 0;
  if (!sqlite3_strnicmp(table, "geosql_", 7)) return gs_listed(g->tables, table);
  return !gs_listed(g->modules, table);
}
// Reading and computing is allowed, and nothing else.
static int gs_allow(void *guard, int action, const char *a, const char *b, const char *database, const char *d) {
  gs_guard *g = guard;
  const char *name = a;
  (void)d;
  if (g->lifted) return SQLITE_OK;
  switch (action) {
  case SQLITE_SELECT: case SQLITE_RECURSIVE: return SQLITE_OK;
  case SQLITE_READ:
    if (a && gs_may_read(g, a, database)) return SQLITE_OK;
    break;
  case SQLITE_FUNCTION:
    if (b && gs_may_call(g, b)) return SQLITE_OK;
    name = b;
  }
  g->action = action;
  strncpy(g->name, name ? name : "", sizeof g->name - 1);
  return SQLITE_DENY;
}
static int gs_look_at_clock(void *guard) {
  gs_guard *g = guard;
  if (!g->patience) return 0;
  int64_t now = gs_now();
  if (!g->since) g->since = now;
  if (now - g->since < g->patience) return 0;
  return g->timed_out = 1;
}
int gs_set_guard(void *db, gs_guard *g) {
  sqlite3_progress_handler(db, g ? 10000 : 0, g ? gs_look_at_clock : 0, g);
  return sqlite3_set_authorizer(db, g ? gs_allow : 0, g);
}
int gs_limit(void *db, int limit, int most) { return sqlite3_limit(db, limit, most); }
int gs_configure(void *db, int option, int on) { return sqlite3_db_config(db, option, on, (int *)0); }
int64_t gs_limit_heap(int64_t bytes) { return sqlite3_hard_heap_limit64(bytes); }

// The file of the main database, "" for one in memory, and the name of its VFS.
const char *gs_filename(void *db, char *vfs, int n) {
  char *name = 0;
  vfs[0] = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_VFSNAME, &name) == SQLITE_OK && name) {
    strncpy(vfs, name, n - 1);
    vfs[n - 1] = 0;
    sqlite3_free(name);
  }
  return sqlite3_db_filename(db, "main");
}

void *gs_backup_init(void *to, void *from) { return sqlite3_backup_init(to, "main", from, "main"); }
int gs_backup_step(void *backup, int pages) { return sqlite3_backup_step(backup, pages); }
int gs_backup_finish(void *backup) { return sqlite3_backup_finish(backup); }
int gs_backup_remaining(void *backup) { return sqlite3_backup_remaining(backup); }
int gs_backup_pages(void *backup) { return sqlite3_backup_pagecount(backup); }

#ifndef GEOSQL_LOADABLE
static int gs_auto_entry(sqlite3 *db, char **message, const void *api) {
  gs_result r = {0};
  (void)api;
  if (gs_opening()) return SQLITE_OK;
  if (gs_forked()) {
    *message = sqlite3_mprintf("%s", gs_fork_message);
    return SQLITE_ERROR;
  }
  geosqlAuto(db, &r);
  if (r.code == 0) return SQLITE_OK;
  *message = sqlite3_mprintf("%s", r.big ? r.big : r.text);
  free(r.big);
  return r.code;
}
int gs_auto(void) { return sqlite3_auto_extension((void (*)(void))gs_auto_entry); }
int gs_cancel_auto(void) { return sqlite3_cancel_auto_extension((void (*)(void))gs_auto_entry); }
const char *gs_keyword(int i, int *n) {
  const char *name = 0;
  sqlite3_keyword_name(i, &name, n);
  return name;
}
#endif

// ---- statements ----

int gs_prepare(void *db, const char *sql, int n, void **stmt, int *tail) {
  const char *end = sql;
  int rc = sqlite3_prepare_v2(db, sql, n, (sqlite3_stmt **)stmt, &end);
  *tail = (int)(end - sql);
  return rc;
}
// A statement that has no further row is reset.
int gs_step(void *stmt) {
  int rc = sqlite3_step(stmt);
  if (rc == SQLITE_DONE) sqlite3_reset(stmt);
  return rc;
}
int gs_reset(void *stmt) { return sqlite3_reset(stmt); }
int gs_finalize(void *stmt) { return sqlite3_finalize(stmt); }
int gs_bind_int64(void *stmt, int i, const int64_t *v, int n) {
  int rc = SQLITE_OK;
  for (int k = 0; k < n && rc == SQLITE_OK; k++) rc = sqlite3_bind_int64(stmt, i + k, v[k]);
  return rc;
}
int gs_bind_double(void *stmt, int i, double v) { return sqlite3_bind_double(stmt, i, v); }
int gs_bind_text(void *stmt, int i, const char *s, int n) {
  return sqlite3_bind_text(stmt, i, s ? s : "", n, SQLITE_TRANSIENT);
}
int gs_bind_blob(void *stmt, int i, const char *b, int n) {
  return sqlite3_bind_blob(stmt, i, b ? b : "", n, SQLITE_TRANSIENT);
}
int gs_bind_null(void *stmt, int i) { return sqlite3_bind_null(stmt, i); }
int gs_column_count(void *stmt) { return sqlite3_column_count(stmt); }
const char *gs_column_name(void *stmt, int i) { return sqlite3_column_name(stmt, i); }
const char *gs_column_decltype(void *stmt, int i) { return sqlite3_column_decltype(stmt, i); }
int gs_parameter_count(void *stmt) { return sqlite3_bind_parameter_count(stmt); }
int gs_clear_bindings(void *stmt) { return sqlite3_clear_bindings(stmt); }
static void gs_column(sqlite3_stmt *stmt, int i, gs_value *v) {
  v->type = sqlite3_column_type(stmt, i);
  switch (v->type) {
  case SQLITE_INTEGER:
    v->u.i = sqlite3_column_int64(stmt, i);
    break;
  case SQLITE_FLOAT:
    v->u.d = sqlite3_column_double(stmt, i);
    break;
  case SQLITE_TEXT:
    v->u.p = sqlite3_column_text(stmt, i);
    v->n = sqlite3_column_bytes(stmt, i);
    break;
  case SQLITE_BLOB:
    v->u.p = sqlite3_column_blob(stmt, i);
    v->n = sqlite3_column_bytes(stmt, i);
    break;
  }
}

void gs_columns(void *stmt, int i, gs_value *v, int n) {
  for (int k = 0; k < n; k++) gs_column(stmt, i + k, &v[k]);
}

// ---- rows in bulk ----

// gs_pack appends the current row. It returns the size of the row, or -1 if that does not fit.
static int gs_pack(sqlite3_stmt *stmt, int columns, unsigned char *to, int size) {
  int used = 0;
  for (int i = 0; i < columns; i++) {
    gs_value v = {0};
    gs_column(stmt, i, &v);
    if (size - used < 9) return -1;
    to[used++] = (unsigned char)v.type;
    switch (v.type) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
      memcpy(to + used, &v.u, 8);
      used += 8;
      break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      memcpy(to + used, &v.n, 4);
      used += 4;
      if (size - used < v.n) return -1;
      if (v.n > 0) memcpy(to + used, v.u.p, v.n);
      used += v.n;
    }
  }
  return used;
}

int gs_fetch(void *stmt, int columns, int waiting, unsigned char *to, int size, int *used, int *rows) {
  int rc = waiting ? SQLITE_ROW : gs_step(stmt);
  for (*used = *rows = 0; rc == SQLITE_ROW; rc = gs_step(stmt)) {
    int n = gs_pack(stmt, columns, to + *used, size - *used);
    if (n < 0) break;
    *used += n;
    ++*rows;
  }
  return rc;
}

// gs_bind_cell binds a cell without copying it, and returns what follows the cell.
static const unsigned char *gs_bind_cell(sqlite3_stmt *stmt, int i, const unsigned char *cell, int *rc) {
  int type = *cell++, n;
  sqlite3_int64 integer;
  double number;
  switch (type) {
  case SQLITE_INTEGER:
    memcpy(&integer, cell, 8);
    *rc = sqlite3_bind_int64(stmt, i, integer);
    return cell + 8;
  case SQLITE_FLOAT:
    memcpy(&number, cell, 8);
    *rc = sqlite3_bind_double(stmt, i, number);
    return cell + 8;
  case SQLITE_TEXT:
  case SQLITE_BLOB:
    memcpy(&n, cell, 4);
    cell += 4;
    *rc = type == SQLITE_TEXT ? sqlite3_bind_text(stmt, i, (const char *)cell, n, SQLITE_STATIC)
                              : sqlite3_bind_blob(stmt, i, cell, n, SQLITE_STATIC);
    return cell + n;
  }
  *rc = sqlite3_bind_null(stmt, i);
  return cell;
}

int gs_insert(void *stmt, int columns, const unsigned char *from, int rows) {
  int rc = SQLITE_DONE;
  for (int row = 0; row < rows && rc == SQLITE_DONE; row++) {
    rc = SQLITE_OK;
    for (int i = 1; i <= columns && rc == SQLITE_OK; i++) from = gs_bind_cell(stmt, i, from, &rc);
    if (rc == SQLITE_OK) rc = gs_step(stmt);
  }
  // The cells are the caller's. After an error the next call binds others.
  for (int i = 1; i <= columns && rc == SQLITE_DONE; i++) sqlite3_bind_null(stmt, i);
  return rc;
}

// ---- values and results ----

static inline void gs_read(gs_value *out, int n, sqlite3_value **in) {
  for (int i = 0; i < n; i++) {
    out[i].type = sqlite3_value_type(in[i]);
    switch (out[i].type) {
    case SQLITE_INTEGER:
      out[i].u.i = sqlite3_value_int64(in[i]);
      break;
    case SQLITE_FLOAT:
      out[i].u.d = sqlite3_value_double(in[i]);
      break;
    case SQLITE_TEXT:
      out[i].u.p = sqlite3_value_text(in[i]);
      out[i].n = sqlite3_value_bytes(in[i]);
      break;
    case SQLITE_BLOB:
      out[i].u.p = sqlite3_value_blob(in[i]);
      out[i].n = sqlite3_value_bytes(in[i]);
      break;
    }
  }
}

static void gs_clear(gs_result *r) {
  r->type = SQLITE_NULL;
  r->code = 0;
  r->big = 0;
}

// Writes a result that is no error. SQLite copies its text or blob if the result is kept, and
// otherwise takes over its memory.
static inline void gs_write_value(sqlite3_context *ctx, const gs_result *r, int kept) {
  const char *bytes = r->big ? r->big : r->text;
  void (*destroy)(void *) = r->big && !kept ? free : SQLITE_TRANSIENT;
  switch (r->type) {
  case SQLITE_INTEGER:
    sqlite3_result_int64(ctx, r->i);
    break;
  case SQLITE_FLOAT:
    sqlite3_result_double(ctx, r->d);
    break;
  case SQLITE_TEXT:
    sqlite3_result_text(ctx, bytes, r->n, destroy);
    break;
  case SQLITE_BLOB:
    sqlite3_result_blob(ctx, bytes, r->n, destroy);
    break;
  default:
    sqlite3_result_null(ctx);
  }
}

static void gs_write_error(sqlite3_context *ctx, gs_result *r) {
  sqlite3_result_error(ctx, r->big ? r->big : r->text, r->n);
  sqlite3_result_error_code(ctx, r->code);
  free(r->big);
}

static void gs_write(sqlite3_context *ctx, gs_result *r) {
  if (r->code)
    gs_write_error(ctx, r);
  else
    gs_write_value(ctx, r, 0);
}

// ---- scalar and aggregate functions ----

static void gs_destroy_function(void *p) {
  gs_function *f = p;
  if (!gs_forked()) geosqlUnbind(f->binding);
  free(f->spare);
  free(f);
}

// The scope of a statement is stored with the statement: auxiliary data with a
// negative index is shared by all of its calls and destroyed when the statement is
// reset or finalised, also after an error. The index is a number of this library.
typedef struct {
  int binding;
  int scope;
  int places; // numbered so far
} gs_scope;
static void gs_end_scope(void *p) {
  gs_scope *s = p;
  if (!gs_forked() && s->scope) geosqlEndScope(s->binding, s->scope);
  free(s);
}

// Returns the scope of the statement that calls f, and begins it at the first call. It
// returns 0 if there is no memory.
static gs_scope *gs_enter_scope(sqlite3_context *ctx, gs_function *f) {
  gs_scope *s = sqlite3_get_auxdata(ctx, f->scope);
  if (s) return s;
  s = malloc(sizeof *s);
  if (!s) return 0;
  s->binding = f->binding;
  s->scope = geosqlBeginScope(f->binding);
  s->places = 0;
  sqlite3_set_auxdata(ctx, f->scope, s, gs_end_scope);
  return sqlite3_get_auxdata(ctx, f->scope); // 0 if SQLite had no memory and has ended the scope
}

// Returns the number of the place where the aggregate that is called stands in the
// compiled statement, or 0 if there is no memory. Auxiliary data with an index from 0 on
// belongs to one instruction. Where SQLite drops such data early, the place gets another
// number. No number is used twice in a scope.
static int gs_enter_place(sqlite3_context *ctx, gs_scope *s) {
  int *place = sqlite3_get_auxdata(ctx, 0);
  if (place) return *place;
  place = malloc(sizeof *place);
  if (!place) return 0;
  int n = *place = ++s->places;
  sqlite3_set_auxdata(ctx, 0, place, free);
  return n;
}

static void gs_scalar(sqlite3_context *ctx, int n, sqlite3_value **in) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_value args[GS_MAX_ARGS];
  gs_result r;
  if (gs_refuse_fork(ctx)) return;
  gs_read(args, n, in);
  gs_clear(&r);
  if (!f->scope) {
    geosqlScalar(f->binding, 0, n, args, &r);
  } else {
    gs_scope *s = gs_enter_scope(ctx, f);
    if (!s) {
      sqlite3_result_error_code(ctx, SQLITE_NOMEM);
      return;
    }
    geosqlScalar(f->binding, s->scope, n, args, &r);
  }
  gs_write(ctx, &r);
}

// A call from C to Go costs as much as the rest of a step, and a group has no answer
// before its last row. So its rows are copied here and passed to Go together: all
// arguments of the first row, and of each other row those that vary. The others are the
// same; a row where they are not begins another batch. An error of a row may surface
// up to a batch later, at the latest in the result.
enum { GS_BATCH_VALUES = 512, GS_BATCH_TEXT = 4096 };
typedef struct gs_batch {
  int values;
  int text;
  gs_value value[GS_BATCH_VALUES];
  char bytes[GS_BATCH_TEXT];
} gs_batch;

// A group's context. SQLite also ends the groups of a statement that fails, and does not say
// so. But if a call has failed since the group began, its statement is the one that fails.
typedef struct {
  int group; // number of its Go state; 0 before the first crossing
  int failures; // of calls before its first row
  int scope; // of its statement; 0 if the function has none
  int place; // of the call in its statement; 0 if the function has no scope
  int n; // arguments of a row
  gs_batch *batch;
} gs_group;

static int gs_has_bytes(const gs_value *v) {
  return v->type == SQLITE_TEXT || v->type == SQLITE_BLOB;
}

// Reports whether an argument is the same as one that was read before, to the bit. Most texts are short names.
static int gs_same(const gs_value *v, sqlite3_value *in) {
  gs_value w;
  gs_read(&w, 1, &in);
  if (v->type != w.type) return 0;
  switch (v->type) {
  case SQLITE_INTEGER:
  case SQLITE_FLOAT:
    return v->u.i == w.u.i;
  case SQLITE_TEXT:
  case SQLITE_BLOB:
    if (v->n != w.n) return 0;
    if (v->n > 16) return memcmp(v->u.p, w.u.p, v->n) == 0;
    for (int i = 0; i < v->n; i++)
      if (((const char *)v->u.p)[i] != ((const char *)w.u.p)[i]) return 0;
  }
  return 1;
}

// Copies a row, or reports that it does not belong to the batch, or that there is no room for it.
static int gs_append(gs_batch *b, int n, int varying, sqlite3_value **in) {
  gs_value *row = b->value + b->values;
  int text = b->text;
  if (b->values) {
    for (int i = varying; i < n; i++)
      if (!gs_same(&b->value[i], in[i])) return 0;
    n = varying;
  }
  if (b->values + n > GS_BATCH_VALUES) return 0;
  gs_read(row, n, in);
  for (int i = 0; i < n; i++) {
    gs_value *v = &row[i];
    if (!gs_has_bytes(v)) continue;
    if (v->n > GS_BATCH_TEXT - text) return 0;
    if (v->n > 0) memcpy(b->bytes + text, v->u.p, v->n);
    v->u.p = b->bytes + text;
    text += v->n;
  }
  b->values += n;
  b->text = text;
  return 1;
}

static void gs_empty(gs_batch *b) { b->values = b->text = 0; }

static gs_batch *gs_take_batch(gs_function *f) {
  gs_batch *b = f->spare;
  f->spare = 0;
  if (!b) b = malloc(sizeof *b);
  if (b) gs_empty(b);
  return b;
}

static void gs_give_batch(gs_function *f, gs_batch *b) {
  if (f->spare)
    free(b);
  else
    f->spare = b;
}

// Prepares a group for its first row, or reports that there is no memory.
static int gs_begin_group(sqlite3_context *ctx, gs_function *f, gs_group *g, int n) {
  if (f->scope) {
    gs_scope *s = gs_enter_scope(ctx, f);
    if (!s) return 0;
    g->scope = s->scope;
    g->place = gs_enter_place(ctx, s);
    if (!g->place) return 0;
  }
  g->failures = *f->failures;
  g->n = n;
  g->batch = gs_take_batch(f);
  return g->batch != 0;
}

static void gs_step_group(sqlite3_context *ctx, int n, sqlite3_value **in) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_group *g = sqlite3_aggregate_context(ctx, sizeof *g);
  gs_result r;
  if (gs_refuse_fork(ctx)) return;
  if (!g || (!g->batch && !gs_begin_group(ctx, f, g, n))) {
    sqlite3_result_error_code(ctx, SQLITE_NOMEM);
    return;
  }
  if (gs_append(g->batch, n, f->varying, in)) return;
  gs_clear(&r);
  if (g->batch->values)
    g->group = geosqlStep(f->binding, g->scope, g->place, g->group, n, f->varying, g->batch->values, g->batch->value, &r);
  gs_empty(g->batch);
  if (!r.code && !gs_append(g->batch, n, f->varying, in)) { // longer than any batch
    gs_value row[GS_MAX_ARGS];
    gs_read(row, n, in);
    g->group = geosqlStep(f->binding, g->scope, g->place, g->group, n, f->varying, n, row, &r);
  }
  if (r.code) gs_write(ctx, &r);
}

static void gs_final_group(sqlite3_context *ctx) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_group *g = sqlite3_aggregate_context(ctx, 0);
  gs_result r;
  if (gs_refuse_fork(ctx) || !g || !g->batch) return; // no step, no group: NULL
  gs_clear(&r);
  geosqlFinal(f->binding, g->scope, g->place, g->group, g->failures != *f->failures, g->n, f->varying,
              g->batch->values, g->batch->value, &r);
  gs_give_batch(f, g->batch);
  g->batch = 0;
  gs_write(ctx, &r);
}

// Answers a group that goes on: the frame of a window up to a row.
static void gs_value_group(sqlite3_context *ctx) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_group *g = sqlite3_aggregate_context(ctx, 0);
  gs_result r;
  if (gs_refuse_fork(ctx) || !g || !g->batch) return; // no row yet: NULL
  gs_clear(&r);
  g->group = geosqlValue(f->binding, g->scope, g->place, g->group, g->n, f->varying, g->batch->values, g->batch->value, &r);
  gs_empty(g->batch);
  gs_write(ctx, &r);
}

static void gs_inverse_group(sqlite3_context *ctx, int n, sqlite3_value **in) {
  (void)n, (void)in;
  sqlite3_result_error(ctx, "the frame of the window has to begin with UNBOUNDED PRECEDING", -1);
}

// ---- window functions ----

// The context of a partition, or of a group where the function is used as a plain
// aggregate. A row waits here from its step until SQLite asks for the answer, so
// that it is passed to Go once, and not at all if it is refused. The answer is kept,
// since SQLite may ask again before the next row.
typedef struct {
  int partition; // number of its Go state; 0 before the first crossing
  int scope;     // of its statement; 0 before the first row, or if the function has none
  int waiting;   // the row has no answer yet
  int failures;  // of calls before the row, see gs_group
  int windowed;  // SQLite asks row by row, not at the end
  int n;
  gs_value row[GS_MAX_ARGS];
  char *bytes; // the row's texts and blobs
  size_t room;
  gs_result answer;
} gs_partition;

// Moves the row's texts and blobs to memory that outlives the step.
static int gs_keep_bytes(gs_partition *p) {
  size_t need = 0, used = 0;
  for (int i = 0; i < p->n; i++)
    if (gs_has_bytes(&p->row[i])) need += p->row[i].n;
  if (need > p->room) {
    char *bytes = realloc(p->bytes, 2 * need);
    if (!bytes) return 0;
    p->bytes = bytes;
    p->room = 2 * need;
  }
  for (int i = 0; i < p->n; i++) {
    gs_value *v = &p->row[i];
    if (!gs_has_bytes(v) || v->n == 0) continue;
    memcpy(p->bytes + used, v->u.p, v->n);
    v->u.p = p->bytes + used;
    used += v->n;
  }
  return 1;
}

// Nothing is drawn for a row that waits when the frame is refused.
static void gs_refuse_frame(sqlite3_context *ctx, gs_partition *p) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_result r;
  p->waiting = 0;
  gs_clear(&r);
  geosqlRefuseFrame(f->binding, &r);
  gs_write(ctx, &r);
}

static void gs_step_window(sqlite3_context *ctx, int n, sqlite3_value **in) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_partition *p;
  if (gs_refuse_fork(ctx)) return;
  p = sqlite3_aggregate_context(ctx, sizeof *p);
  if (p && p->waiting) {
    gs_refuse_frame(ctx, p);
    return;
  }
  if (p && f->scope && !p->scope) { // now: SQLite tells a step its statement, and an answer none
    gs_scope *s = gs_enter_scope(ctx, f);
    if (s) p->scope = s->scope;
  }
  if (p && (p->scope || !f->scope)) {
    gs_read(p->row, n, in);
    p->n = n;
    p->failures = *f->failures;
    p->waiting = gs_keep_bytes(p);
  }
  if (!p || !p->waiting) sqlite3_result_error_code(ctx, SQLITE_NOMEM);
}

// Refuses a frame that a row leaves, since what was released about it stays released.
static void gs_inverse_window(sqlite3_context *ctx, int n, sqlite3_value **in) {
  (void)n, (void)in;
  if (!gs_refuse_fork(ctx)) gs_refuse_frame(ctx, sqlite3_aggregate_context(ctx, 0));
}

static void gs_answer(sqlite3_context *ctx, gs_partition *p) {
  gs_function *f = sqlite3_user_data(ctx);
  if (p->waiting) {
    p->waiting = 0;
    free(p->answer.big);
    gs_clear(&p->answer);
    p->partition = geosqlRow(f->binding, p->scope, p->partition, p->failures != *f->failures, p->n, p->row, &p->answer);
  }
  if (p->answer.code) {
    gs_write_error(ctx, &p->answer);
    gs_clear(&p->answer);
  } else {
    gs_write_value(ctx, &p->answer, 1);
  }
}

static void gs_value_window(sqlite3_context *ctx) {
  gs_partition *p;
  if (gs_refuse_fork(ctx)) return;
  p = sqlite3_aggregate_context(ctx, 0);
  if (!p) return; // no row yet: NULL
  p->windowed = 1;
  gs_answer(ctx, p);
}

// Also called when the statement is aborted. A group is answered here; a partition has
// been answered already.
static void gs_final_window(sqlite3_context *ctx) {
  gs_function *f = sqlite3_user_data(ctx);
  gs_partition *p;
  if (gs_refuse_fork(ctx)) return;
  p = sqlite3_aggregate_context(ctx, 0);
  if (!p) return; // no row, no group: NULL
  if (!p->windowed) gs_answer(ctx, p);
  if (p->partition) geosqlEndPartition(f->binding, p->partition);
  free(p->answer.big);
  free(p->bytes);
}

// ---- registration of functions ----

static gs_function *gs_new_function(int binding, int scope, const int *failures) {
  gs_function *f = malloc(sizeof *f);
  if (f) {
    f->binding = binding;
    f->scope = scope;
    f->varying = 0;
    f->failures = failures;
    f->spare = 0;
  }
  return f;
}

int gs_create_scalar(void *db, const char *name, int nargs, int flags, int binding, int scope,
                     const int *failures) {
  gs_function *f = gs_new_function(binding, scope, failures);
  if (!f) return SQLITE_NOMEM;
  return sqlite3_create_function_v2(db, name, nargs, SQLITE_UTF8 | flags, f, gs_scalar, 0, 0,
                                    gs_destroy_function);
}

int gs_create_aggregate(void *db, const char *name, int nargs, int varying, int windowed, int flags, int binding, int scope,
                        const int *failures) {
  gs_function *f = gs_new_function(binding, scope, failures);
  if (!f) return SQLITE_NOMEM;
  f->varying = varying;
  if (windowed)
    return sqlite3_create_window_function(db, name, nargs, SQLITE_UTF8 | flags, f, gs_step_group, gs_final_group,
                                          gs_value_group, gs_inverse_group, gs_destroy_function);
  return sqlite3_create_function_v2(db, name, nargs, SQLITE_UTF8 | flags, f, 0, gs_step_group,
                                    gs_final_group, gs_destroy_function);
}

int gs_create_window(void *db, const char *name, int nargs, int flags, int binding, int scope,
                     const int *failures) {
  gs_function *f = gs_new_function(binding, scope, failures);
  if (!f) return SQLITE_NOMEM;
  return sqlite3_create_window_function(db, name, nargs, SQLITE_UTF8 | flags, f, gs_step_window,
                                        gs_final_window, gs_value_window, gs_inverse_window,
                                        gs_destroy_function);
}

// ---- table-valued functions ----

typedef struct {
  sqlite3_vtab base;
  const gs_table *table;
} gs_vtab;

enum { GS_EOF = 0, GS_LAST_ROW = 1, GS_ROW = 2 };

typedef struct {
  sqlite3_vtab_cursor base;
  int cursor; // number of the Go state, 0 before the first filter
  int state;
  sqlite3_int64 row;
  gs_result cells[GS_MAX_COLUMNS];
} gs_cursor;

static void gs_destroy_function_table(void *p) {
  if (!gs_forked()) geosqlUnbind(((gs_table *)p)->binding);
  free(p);
}

static int gs_connect(sqlite3 *db, void *table, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **message) {
  const gs_table *t = table;
  gs_vtab *v;
  int rc = sqlite3_declare_vtab(db, t->schema);
  (void)argc, (void)argv, (void)message;
  if (rc != SQLITE_OK) return rc;
  if (t->direct_only) sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  v = malloc(sizeof *v);
  if (!v) return SQLITE_NOMEM;
  memset(v, 0, sizeof *v);
  v->table = t;
  *out = &v->base;
  return SQLITE_OK;
}

static int gs_disconnect(sqlite3_vtab *v) {
  free(v);
  return SQLITE_OK;
}

// Hidden columns are the arguments. An argument whose value is not known yet makes
// the plan impossible. A missing argument is an error that is only raised when the
// plan runs, since SQLite also tries plans that it discards.
static int gs_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  const gs_table *t = ((gs_vtab *)vtab)->table;
  int hidden = t->required + t->optional;
  int position[GS_MAX_ARGS];
  int given = 0;
  for (int i = 0; i < hidden; i++) position[i] = -1;
  for (int i = 0; i < info->nConstraint; i++) {
    int arg = info->aConstraint[i].iColumn - t->columns;
    if (arg < 0 || arg >= hidden || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
      continue;
    if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    position[arg] = i;
  }
  while (given < hidden && position[given] >= 0) {
    info->aConstraintUsage[position[given]].argvIndex = given + 1;
    info->aConstraintUsage[position[given]].omit = 1;
    given++;
  }
  info->idxNum = (int)(info->colUsed & 0xffff);
  info->estimatedCost = given < t->required ? 1e99 : 1;
  info->estimatedRows = t->single_row ? 1 : 1000;
  if (t->single_row) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return SQLITE_OK;
}

static int gs_open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out) {
  gs_cursor *c = malloc(sizeof *c);
  (void)v;
  if (!c) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  *out = &c->base;
  return SQLITE_OK;
}

static void gs_drop_cells(gs_cursor *c, int n) {
  for (int i = 0; i < n; i++) {
    if (c->cells[i].big) free(c->cells[i].big); // few have: a row need not call free for each
    gs_clear(&c->cells[i]);
  }
}

static int gs_close_cursor(sqlite3_vtab_cursor *cur) {
  gs_cursor *c = (gs_cursor *)cur;
  const gs_table *t = ((gs_vtab *)cur->pVtab)->table;
  gs_drop_cells(c, t->columns);
  if (c->cursor && !gs_forked()) geosqlCloseCursor(t->binding, c->cursor);
  free(c);
  return SQLITE_OK;
}

static int gs_vtab_error(sqlite3_vtab *v, const char *text, int code) {
  sqlite3_free(v->zErrMsg);
  v->zErrMsg = sqlite3_mprintf("%s", text);
  return code;
}

// Go reports an error in the first cell.
static int gs_row(gs_cursor *c, int state) {
  gs_result *r = &c->cells[0];
  if (r->code) {
    int rc = gs_vtab_error(c->base.pVtab, r->big ? r->big : r->text, r->code);
    free(r->big);
    gs_clear(r);
    c->state = GS_EOF;
    return rc;
  }
  c->state = state;
  return SQLITE_OK;
}

static int gs_filter(sqlite3_vtab_cursor *cur, int idx, const char *name, int n,
                     sqlite3_value **in) {
  gs_cursor *c = (gs_cursor *)cur;
  const gs_table *t = ((gs_vtab *)cur->pVtab)->table;
  gs_value args[GS_MAX_ARGS];
  int state;
  (void)name;
  if (gs_forked()) return gs_vtab_error(cur->pVtab, gs_fork_message, SQLITE_ERROR);
  gs_drop_cells(c, t->columns);
  c->row = 0;
  gs_read(args, n, in);
  state = geosqlFilter(t->binding, &c->cursor, idx, n, args, c->cells);
  return gs_row(c, state);
}

static int gs_next(sqlite3_vtab_cursor *cur) {
  gs_cursor *c = (gs_cursor *)cur;
  const gs_table *t = ((gs_vtab *)cur->pVtab)->table;
  if (gs_forked()) return gs_vtab_error(cur->pVtab, gs_fork_message, SQLITE_ERROR);
  c->row++;
  if (c->state != GS_ROW) {
    c->state = GS_EOF;
    return SQLITE_OK;
  }
  gs_drop_cells(c, t->columns);
  return gs_row(c, geosqlNext(t->binding, c->cursor, c->cells));
}

static int gs_eof(sqlite3_vtab_cursor *cur) { return ((gs_cursor *)cur)->state == GS_EOF; }

static int gs_cell(sqlite3_vtab_cursor *cur, sqlite3_context *ctx, int i) {
  gs_cursor *c = (gs_cursor *)cur;
  const gs_table *t = ((gs_vtab *)cur->pVtab)->table;
  if (i < t->columns) gs_write_value(ctx, &c->cells[i], 1); // an argument is NULL
  return SQLITE_OK;
}

static int gs_rowid(sqlite3_vtab_cursor *cur, sqlite3_int64 *out) {
  *out = ((gs_cursor *)cur)->row;
  return SQLITE_OK;
}

static const sqlite3_module gs_module = {
    .iVersion = 0,
    .xConnect = gs_connect,
    .xBestIndex = gs_best_index,
    .xDisconnect = gs_disconnect,
    .xOpen = gs_open_cursor,
    .xClose = gs_close_cursor,
    .xFilter = gs_filter,
    .xNext = gs_next,
    .xEof = gs_eof,
    .xColumn = gs_cell,
    .xRowid = gs_rowid,
};

int gs_create_table(void *db, const char *name, const gs_table *table) {
  gs_table *t = malloc(sizeof *t);
  if (!t) return SQLITE_NOMEM;
  *t = *table;
  return sqlite3_create_module_v2(db, name, &gs_module, t, gs_destroy_function_table);
}
