//go:build unix && !geosql_loadable

// A VFS over the default one that tells Go of every change before it makes it, and
// makes it fail where Go says so. The symbols are those of the SQLite that
// mattn/go-sqlite3 links; see api.h of the package above.
#include "vfs.h"

#include <string.h>

#include "_cgo_export.h"

#define SQLITE_OK 0
#define SQLITE_ERROR 1

typedef long long sqlite3_int64;
typedef struct sqlite3_file sqlite3_file;
typedef struct sqlite3_vfs sqlite3_vfs;
typedef void (*sqlite3_syscall_ptr)(void);

typedef struct {
  int iVersion;
  int (*xClose)(sqlite3_file *);
  int (*xRead)(sqlite3_file *, void *, int, sqlite3_int64);
  int (*xWrite)(sqlite3_file *, const void *, int, sqlite3_int64);
  int (*xTruncate)(sqlite3_file *, sqlite3_int64);
  int (*xSync)(sqlite3_file *, int);
  int (*xFileSize)(sqlite3_file *, sqlite3_int64 *);
  int (*xLock)(sqlite3_file *, int);
  int (*xUnlock)(sqlite3_file *, int);
  int (*xCheckReservedLock)(sqlite3_file *, int *);
  int (*xFileControl)(sqlite3_file *, int, void *);
  int (*xSectorSize)(sqlite3_file *);
  int (*xDeviceCharacteristics)(sqlite3_file *);
  int (*xShmMap)(sqlite3_file *, int, int, int, void volatile **);
  int (*xShmLock)(sqlite3_file *, int, int, int);
  void (*xShmBarrier)(sqlite3_file *);
  int (*xShmUnmap)(sqlite3_file *, int);
} sqlite3_io_methods; // of version 2: without mmap, past which nothing could be recorded

struct sqlite3_file {
  const sqlite3_io_methods *pMethods;
};

struct sqlite3_vfs {
  int iVersion;
  int szOsFile;
  int mxPathname;
  sqlite3_vfs *pNext;
  const char *zName;
  void *pAppData;
  int (*xOpen)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
  int (*xDelete)(sqlite3_vfs *, const char *, int);
  int (*xAccess)(sqlite3_vfs *, const char *, int, int *);
  int (*xFullPathname)(sqlite3_vfs *, const char *, int, char *);
  void *(*xDlOpen)(sqlite3_vfs *, const char *);
  void (*xDlError)(sqlite3_vfs *, int, char *);
  void (*(*xDlSym)(sqlite3_vfs *, void *, const char *))(void);
  void (*xDlClose)(sqlite3_vfs *, void *);
  int (*xRandomness)(sqlite3_vfs *, int, char *);
  int (*xSleep)(sqlite3_vfs *, int);
  int (*xCurrentTime)(sqlite3_vfs *, double *);
  int (*xGetLastError)(sqlite3_vfs *, int, char *);
  int (*xCurrentTimeInt64)(sqlite3_vfs *, sqlite3_int64 *);
  int (*xSetSystemCall)(sqlite3_vfs *, const char *, sqlite3_syscall_ptr);
  sqlite3_syscall_ptr (*xGetSystemCall)(sqlite3_vfs *, const char *);
  const char *(*xNextSystemCall)(sqlite3_vfs *, const char *);
};

sqlite3_vfs *sqlite3_vfs_find(const char *);
int sqlite3_vfs_register(sqlite3_vfs *, int);
int sqlite3_vfs_unregister(sqlite3_vfs *);

static sqlite3_vfs *pl_under; // the VFS that does the work

// A file; that of the VFS below lies behind it.
typedef struct {
  sqlite3_file base;
  int number; // that Go knows it by; 0 for one that is not recorded
} pl_file;

static int pl_number(sqlite3_file *f) { return ((pl_file *)f)->number; }
static sqlite3_file *pl_real(sqlite3_file *f) { return (sqlite3_file *)((pl_file *)f + 1); }
static const sqlite3_io_methods *pl_do(sqlite3_file *f) { return pl_real(f)->pMethods; }

// ---- what changes a file ----

// A write that is to fail writes its first half, as a disk that fills up does.
static int pl_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
  int failure = powerlossWrite(pl_number(f), (void *)data, n, at);
  int rc = pl_do(f)->xWrite(pl_real(f), data, failure ? n / 2 : n, at);
  return failure ? failure : rc;
}
static int pl_truncate(sqlite3_file *f, sqlite3_int64 size) {
  int failure = powerlossTruncate(pl_number(f), size);
  return failure ? failure : pl_do(f)->xTruncate(pl_real(f), size);
}
static int pl_sync(sqlite3_file *f, int flags) {
  int failure = powerlossSync(pl_number(f));
  return failure ? failure : pl_do(f)->xSync(pl_real(f), flags);
}

// ---- what does not ----

static int pl_close(sqlite3_file *f) { return pl_do(f)->xClose(pl_real(f)); }
static int pl_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at) {
  return pl_do(f)->xRead(pl_real(f), data, n, at);
}
static int pl_size(sqlite3_file *f, sqlite3_int64 *size) {
  return pl_do(f)->xFileSize(pl_real(f), size);
}
static int pl_lock(sqlite3_file *f, int level) { return pl_do(f)->xLock(pl_real(f), level); }
static int pl_unlock(sqlite3_file *f, int level) { return pl_do(f)->xUnlock(pl_real(f), level); }
static int pl_reserved(sqlite3_file *f, int *out) {
  return pl_do(f)->xCheckReservedLock(pl_real(f), out);
}
static int pl_control(sqlite3_file *f, int op, void *arg) {
  return pl_do(f)->xFileControl(pl_real(f), op, arg);
}
static int pl_sector(sqlite3_file *f) { return pl_do(f)->xSectorSize(pl_real(f)); }
static int pl_device(sqlite3_file *f) { return pl_do(f)->xDeviceCharacteristics(pl_real(f)); }
static int pl_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
  return pl_do(f)->xShmMap(pl_real(f), page, size, extend, out);
}
static int pl_shm_lock(sqlite3_file *f, int at, int n, int flags) {
  return pl_do(f)->xShmLock(pl_real(f), at, n, flags);
}
static void pl_shm_barrier(sqlite3_file *f) { pl_do(f)->xShmBarrier(pl_real(f)); }
static int pl_shm_unmap(sqlite3_file *f, int remove) {
  return pl_do(f)->xShmUnmap(pl_real(f), remove);
}

static const sqlite3_io_methods pl_methods = {
    .iVersion = 2,
    .xClose = pl_close,
    .xRead = pl_read,
    .xWrite = pl_write,
    .xTruncate = pl_truncate,
    .xSync = pl_sync,
    .xFileSize = pl_size,
    .xLock = pl_lock,
    .xUnlock = pl_unlock,
    .xCheckReservedLock = pl_reserved,
    .xFileControl = pl_control,
    .xSectorSize = pl_sector,
    .xDeviceCharacteristics = pl_device,
    .xShmMap = pl_shm_map,
    .xShmLock = pl_shm_lock,
    .xShmBarrier = pl_shm_barrier,
    .xShmUnmap = pl_shm_unmap,
};

// ---- the VFS ----

static int pl_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out) {
  int rc;
  memset(f, 0, vfs->szOsFile);
  rc = pl_under->xOpen(pl_under, path, pl_real(f), flags, out);
  if (pl_do(f)) f->pMethods = &pl_methods; // SQLite then closes it, also after an error
  if (rc == SQLITE_OK && path) ((pl_file *)f)->number = powerlossOpen((char *)path);
  return rc;
}
static int pl_delete(sqlite3_vfs *vfs, const char *path, int sync) {
  int failure = powerlossDelete((char *)path);
  (void)vfs;
  return failure ? failure : pl_under->xDelete(pl_under, path, sync);
}
static int pl_access(sqlite3_vfs *vfs, const char *path, int flags, int *out) {
  (void)vfs;
  return pl_under->xAccess(pl_under, path, flags, out);
}
static int pl_full_pathname(sqlite3_vfs *vfs, const char *path, int n, char *out) {
  (void)vfs;
  return pl_under->xFullPathname(pl_under, path, n, out);
}
static int pl_randomness(sqlite3_vfs *vfs, int n, char *out) {
  (void)vfs;
  return pl_under->xRandomness(pl_under, n, out);
}
static int pl_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return pl_under->xSleep(pl_under, microseconds);
}
static int pl_current_time(sqlite3_vfs *vfs, double *out) {
  (void)vfs;
  return pl_under->xCurrentTime(pl_under, out);
}
static int pl_last_error(sqlite3_vfs *vfs, int n, char *out) {
  (void)vfs;
  return pl_under->xGetLastError(pl_under, n, out);
}
static int pl_current_time64(sqlite3_vfs *vfs, sqlite3_int64 *out) {
  (void)vfs;
  return pl_under->xCurrentTimeInt64(pl_under, out);
}

static sqlite3_vfs pl_vfs = {
    .iVersion = 2,
    .zName = "geosql-powerloss",
    .xOpen = pl_open,
    .xDelete = pl_delete,
    .xAccess = pl_access,
    .xFullPathname = pl_full_pathname,
    .xRandomness = pl_randomness,
    .xSleep = pl_sleep,
    .xCurrentTime = pl_current_time,
    .xGetLastError = pl_last_error,
    .xCurrentTimeInt64 = pl_current_time64,
};

// The VFS below syncs a folder when it sees fit: with the first sync of a new journal
// or log, and after a deletion that asks for it. It opens the folder for nothing else.
static const char pl_folder_call[] = "openDirectory";
static int (*pl_open_folder)(const char *, int *);
static int pl_sync_folder(const char *path, int *fd) {
  int rc = pl_open_folder(path, fd);
  if (rc == SQLITE_OK) powerlossSyncFolder((char *)path);
  return rc;
}

int pl_install(void) {
  sqlite3_syscall_ptr call;
  pl_under = sqlite3_vfs_find(0);
  if (!pl_under || pl_under->iVersion < 3) return SQLITE_ERROR;
  call = pl_under->xGetSystemCall(pl_under, pl_folder_call);
  if (!call) return SQLITE_ERROR;
  pl_open_folder = (int (*)(const char *, int *))call;
  pl_under->xSetSystemCall(pl_under, pl_folder_call, (sqlite3_syscall_ptr)pl_sync_folder);
  pl_vfs.szOsFile = (int)sizeof(pl_file) + pl_under->szOsFile;
  pl_vfs.mxPathname = pl_under->mxPathname;
  return sqlite3_vfs_register(&pl_vfs, 1);
}

int pl_remove(void) {
  pl_under->xSetSystemCall(pl_under, pl_folder_call, (sqlite3_syscall_ptr)pl_open_folder);
  return sqlite3_vfs_unregister(&pl_vfs);
}
