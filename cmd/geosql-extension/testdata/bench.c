// A C host: loads the extension, argument 1, on a connection to the file of argument
// 2. For every number on standard input it runs that query, of the arguments from 3
// on, to its end, and writes how many nanoseconds that took.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sqlite3 *db;

static void check(int ok) {
  if (ok) return;
  fprintf(stderr, "%s\n", sqlite3_errmsg(db));
  exit(1);
}

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void run(const char *sql) {
  sqlite3_stmt *s;
  int code;
  check(sqlite3_prepare_v2(db, sql, -1, &s, 0) == SQLITE_OK);
  while ((code = sqlite3_step(s)) == SQLITE_ROW) continue;
  check(code == SQLITE_DONE);
  sqlite3_finalize(s);
}

int main(int argc, char **argv) {
  int query;
  if (argc < 4) return 2;
  check(sqlite3_open(argv[2], &db) == SQLITE_OK);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)0);
  check(sqlite3_load_extension(db, argv[1], 0, 0) == SQLITE_OK);
  while (scanf("%d", &query) == 1) {
    long long start = now();
    run(argv[3 + query]);
    printf("%lld\n", now() - start);
    fflush(stdout);
  }
  check(sqlite3_close(db) == SQLITE_OK);
  return 0;
}
