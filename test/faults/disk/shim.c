/*
 * Loaded before the C library (LD_PRELOAD): writes down every call of a process that changes files below a directory, so
 * that the state after a power loss can be built from it (replay.ts), and ends the process at a chosen call.
 *
 *   PLAT_DISK_DIR    the directory
 *   PLAT_DISK_LOG    where calls are written down
 *   PLAT_DISK_KILL   COUNT:TEXT:HALF   the process is killed at the COUNT-th call on a path that contains TEXT; HALF = 1:
 *                    a write is carried out by half before that
 *
 * A call has two records, one before it begins and one after it has returned: a sync covers what had returned before it
 * began. Records are appended by one system call each, so that threads do not mix them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 3, TRUNCATE = 4, RENAME = 5, UNLINK = 6, MKDIR = 7 };
enum { DSYNC = 1, CREATED = 2, TRUNCATED = 4 };

struct record {
  uint32_t magic;
  uint8_t phase, op;
  uint16_t path_length, second_length, unused;
  uint32_t flags;
  uint64_t id, inode;
  int64_t offset;
  uint64_t length;
};

static const char *directory;
static size_t directory_length;
static int log_file = -1;
static long kill_count = -1;
static char kill_text[64];
static int kill_half;
static atomic_ulong next_id = 1;
static atomic_long matching = 0;

__attribute__((constructor)) static void begin(void) {
  directory = getenv("PLAT_DISK_DIR");
  if (directory == NULL) return;
  directory_length = strlen(directory);
  const char *path = getenv("PLAT_DISK_LOG");
  if (path != NULL) log_file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *plan = getenv("PLAT_DISK_KILL");
  if (plan != NULL) sscanf(plan, "%ld:%63[^:]:%d", &kill_count, kill_text, &kill_half);
}

static int below(const char *path) {
  return directory != NULL && strncmp(path, directory, directory_length) == 0 && (path[directory_length] == '/' || path[directory_length] == 0);
}

/* The path of a descriptor if it lies below the directory, else 0. */
static int watched(int fd, char *path) {
  if (directory == NULL) return 0;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return below(path);
}

static uint64_t inode_of(int fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

static void put(struct record *record, const char *path, const char *second, const struct iovec *data, int count) {
  if (log_file < 0) return;
  struct iovec parts[1027];
  int used = 0;
  record->magic = 0x504c4f47;
  record->path_length = path == NULL ? 0 : strlen(path);
  record->second_length = second == NULL ? 0 : strlen(second);
  parts[used++] = (struct iovec){record, sizeof *record};
  if (path != NULL) parts[used++] = (struct iovec){(void *)path, record->path_length};
  if (second != NULL) parts[used++] = (struct iovec){(void *)second, record->second_length};
  for (int i = 0; i < count && used < 1024; i++) parts[used++] = data[i];
  syscall(SYS_writev, log_file, parts, used);
}

/* Whether the process must end at this call. */
static int last_call(const char *path) {
  if (kill_count < 0 || strstr(path, kill_text) == NULL) return 0;
  return atomic_fetch_add(&matching, 1) + 1 == kill_count;
}
static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static uint64_t before(int op, int fd, const char *path, const char *second, int64_t offset, uint64_t length, uint32_t flags,
                       const struct iovec *data, int count) {
  struct record record = {.phase = 0, .op = op, .flags = flags, .offset = offset, .length = length};
  record.id = atomic_fetch_add(&next_id, 1);
  record.inode = fd < 0 ? 0 : inode_of(fd);
  put(&record, path, second, data, count);
  return record.id;
}
static void after(int op, uint64_t id, int64_t result, uint64_t inode, uint32_t flags) {
  struct record record = {.phase = 1, .op = op, .flags = flags, .id = id, .inode = inode, .offset = result};
  int saved = errno;
  put(&record, NULL, NULL, NULL, 0);
  errno = saved;
}

static uint32_t durability(int fd) {
  int flags = syscall(SYS_fcntl, fd, F_GETFL);
  return (flags & O_DSYNC) != 0 ? DSYNC : 0;
}

typedef ssize_t (*pwrite_t)(int, const void *, size_t, off64_t);
typedef ssize_t (*pwritev_t)(int, const struct iovec *, int, off64_t);
typedef ssize_t (*write_t)(int, const void *, size_t);
typedef ssize_t (*writev_t)(int, const struct iovec *, int);
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

static uint64_t begin_write(int fd, const char *path, const struct iovec *data, int count, int64_t offset) {
  uint64_t length = 0;
  for (int i = 0; i < count; i++) length += data[i].iov_len;
  uint64_t id = before(WRITE, fd, path, NULL, offset, length, durability(fd), data, count);
  if (last_call(path)) {
    if (kill_half && data[0].iov_len > 1) syscall(SYS_pwrite64, fd, data[0].iov_base, data[0].iov_len / 2, offset);
    die();
  }
  return id;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  static pwrite_t real;
  if (real == NULL) real = REAL(pwrite_t, "pwrite64");
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd, bytes, length, offset);
  struct iovec data = {(void *)bytes, length};
  uint64_t id = begin_write(fd, path, &data, 1, offset);
  ssize_t result = real(fd, bytes, length, offset);
  after(WRITE, id, result, 0, 0);
  return result;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t pwritev64(int fd, const struct iovec *data, int count, off64_t offset) {
  static pwritev_t real;
  if (real == NULL) real = REAL(pwritev_t, "pwritev64");
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd, data, count, offset);
  uint64_t id = begin_write(fd, path, data, count, offset);
  ssize_t result = real(fd, data, count, offset);
  after(WRITE, id, result, 0, 0);
  return result;
}
ssize_t pwritev(int fd, const struct iovec *data, int count, off_t offset) { return pwritev64(fd, data, count, offset); }

static int64_t position(int fd) {
  int flags = syscall(SYS_fcntl, fd, F_GETFL);
  return lseek(fd, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  static write_t real;
  if (real == NULL) real = REAL(write_t, "write");
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd, bytes, length);
  struct iovec data = {(void *)bytes, length};
  uint64_t id = begin_write(fd, path, &data, 1, position(fd));
  ssize_t result = real(fd, bytes, length);
  after(WRITE, id, result, 0, 0);
  return result;
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  static writev_t real;
  if (real == NULL) real = REAL(writev_t, "writev");
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd, data, count);
  uint64_t id = begin_write(fd, path, data, count, position(fd));
  ssize_t result = real(fd, data, count);
  after(WRITE, id, result, 0, 0);
  return result;
}

static int synced(int fd, const char *name) {
  int (*real)(int) = REAL(int (*)(int), name);
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd);
  uint64_t id = before(SYNC, fd, path, NULL, 0, 0, 0, NULL, 0);
  if (last_call(path)) die();
  int result = real(fd);
  after(SYNC, id, result, 0, 0);
  return result;
}
int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

int ftruncate64(int fd, off64_t length) {
  int (*real)(int, off64_t) = REAL(int (*)(int, off64_t), "ftruncate64");
  char path[PATH_MAX];
  if (!watched(fd, path)) return real(fd, length);
  uint64_t id = before(TRUNCATE, fd, path, NULL, length, 0, 0, NULL, 0);
  if (last_call(path)) die();
  int result = real(fd, length);
  after(TRUNCATE, id, result, 0, 0);
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int open64(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  if (real == NULL) real = REAL(int (*)(const char *, int, ...), "open64");
  va_list list;
  va_start(list, flags);
  int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !below(path)) return real(path, flags, mode);
  uint32_t facts = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0 ? CREATED : (flags & O_TRUNC) != 0 ? TRUNCATED : 0;
  uint64_t id = before(OPEN, -1, path, NULL, 0, 0, facts, NULL, 0);
  if (last_call(path)) die();
  int fd = real(path, flags, mode);
  int saved = errno;
  after(OPEN, id, fd < 0 ? -1 : 0, fd < 0 ? 0 : inode_of(fd), facts);
  errno = saved;
  return fd;
}
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  return open64(path, flags, mode);
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) = REAL(int (*)(const char *, const char *), "rename");
  if (!below(from) && !below(to)) return real(from, to);
  uint64_t id = before(RENAME, -1, from, to, 0, 0, 0, NULL, 0);
  if (last_call(to)) die();
  int result = real(from, to);
  after(RENAME, id, result, 0, 0);
  return result;
}

int unlink(const char *path) {
  int (*real)(const char *) = REAL(int (*)(const char *), "unlink");
  if (!below(path)) return real(path);
  uint64_t id = before(UNLINK, -1, path, NULL, 0, 0, 0, NULL, 0);
  if (last_call(path)) die();
  int result = real(path);
  after(UNLINK, id, result, 0, 0);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  int (*real)(const char *, mode_t) = REAL(int (*)(const char *, mode_t), "mkdir");
  if (!below(path)) return real(path, mode);
  uint64_t id = before(MKDIR, -1, path, NULL, 0, 0, 0, NULL, 0);
  int result = real(path, mode);
  after(MKDIR, id, result, 0, 0);
  return result;
}
