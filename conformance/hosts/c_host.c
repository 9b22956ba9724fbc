// Runs statements on a host in C that has loaded the extension:
//
//	c_host DATABASE EXTENSION < STATEMENTS
//
// Reads a statement from each line and writes the list of outcomes, in JSON. A copy of the database that lives in
// memory is called deserialize:PATH.
#include <sqlite3-binding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "deserialize:";
static sqlite3 *db;

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void write_json(const char *text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char c = *text;
    if (c == '"' || c == '\\') putchar('\\');
    if (c < ' ') printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}

// Returns a value as SQL writes it, for sqlite3_free.
static char *literal(sqlite3_stmt *s, int i) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_INTEGER: return sqlite3_mprintf("%lld", sqlite3_column_int64(s, i));
  case SQLITE_FLOAT: return sqlite3_mprintf("%!.17g", sqlite3_column_double(s, i));
  case SQLITE_TEXT: return sqlite3_mprintf("%Q", sqlite3_column_text(s, i));
  case SQLITE_NULL: return sqlite3_mprintf("NULL");
  }
  const unsigned char *bytes = sqlite3_column_blob(s, i);
  int n = sqlite3_column_bytes(s, i);
  char *text = sqlite3_malloc(2 * n + 4), *end = text + 2;
  strcpy(text, "X'");
  for (int k = 0; k < n; k++) end += sprintf(end, "%02x", bytes[k]);
  strcpy(end, "'");
  return text;
}

static void run(const char *sql) {
  sqlite3_stmt *s = 0;
  int rows = 0, code = sqlite3_prepare_v2(db, sql, -1, &s, 0);
  printf("{\"Rows\":[");
  if (code == SQLITE_OK) {
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
      printf(rows++ ? ",[" : "[");
      for (int i = 0; i < sqlite3_column_count(s); i++) {
        char *text = literal(s, i);
        if (i) putchar(',');
        write_json(text);
        sqlite3_free(text);
      }
      putchar(']');
    }
  }
  int failed = code != SQLITE_DONE && code != SQLITE_OK;
  printf("],\"Error\":");
  write_json(failed ? sqlite3_errmsg(db) : "");
  printf(",\"Refused\":%s}", failed && sqlite3_extended_errcode(db) == SQLITE_AUTH_USER ? "true" : "false");
  sqlite3_finalize(s);
}

static void deserialize(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END)) fail("cannot read the database");
  long n = ftell(f);
  unsigned char *content = sqlite3_malloc64(n);
  rewind(f);
  if (fread(content, 1, n, f) != (size_t)n) fail("cannot read the database");
  fclose(f);
  if (sqlite3_deserialize(db, "main", content, n, n, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
    fail(sqlite3_errmsg(db));
}

int main(int argc, char **argv) {
  static char line[1 << 20];
  if (argc != 3) return 2;
  int copied = !strncmp(argv[1], prefix, strlen(prefix));
  if (sqlite3_open(copied ? ":memory:" : argv[1], &db)) fail(sqlite3_errmsg(db));
  if (copied) deserialize(argv[1] + strlen(prefix));
  char *message = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)0);
  if (sqlite3_load_extension(db, argv[2], 0, &message)) fail(message);
  putchar('[');
  for (int n = 0; fgets(line, sizeof line, stdin); n++) {
    if (n) putchar(',');
    run(line);
  }
  putchar(']');
  return sqlite3_close(db) ? 1 : 0;
}
