/* A host of the extension that needs no other program: it has SQLite in it. Arguments: the extension, a database, statements.
   Writes a line for every row and for every error. */
#include "sqlite3-binding.h"
#include <stdio.h>

static int row(void *unused, int n, char **values, char **names) {
  int i;
  (void)unused, (void)names;
  for (i = 0; i < n; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

int main(int argc, char **argv) {
  sqlite3 *db;
  char *message = 0;
  int i, code;
  if (argc < 3) return 2;
  if (sqlite3_open(argv[2], &db) != SQLITE_OK) {
    fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    return 1;
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)0);
  if (sqlite3_load_extension(db, argv[1], 0, &message) != SQLITE_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  for (i = 3; i < argc; i++) {
    code = sqlite3_exec(db, argv[i], row, 0, &message);
    if (code != SQLITE_OK) {
      printf("error %d: %s\n", code, message);
      sqlite3_free(message);
      message = 0;
    }
  }
  sqlite3_close(db);
  return 0;
}
