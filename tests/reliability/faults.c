/* Loaded before the C library (LD_PRELOAD): counts the file operations below a folder, lets one of them fail or end
 * the process, and records all of them, with their data, for the simulation of power failures.
 *
 * faults.py has the Python side. Programs that make system calls without the C library are not seen; safetensors
 * renames its own temporary file in this way, inside a temporary folder of ours. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, KILL_BEFORE, KILL_AFTER, TORN, NO_SPACE, IO_ERROR, SHORT_WRITE };

static char root[PATH_MAX];
static int mode, trace = -1;
static long counter, chosen = -1;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void put(const void *data, size_t n) {
    const char *at = data;
    while (n) {
        ssize_t done = syscall(SYS_write, trace, at, n);
        if (done <= 0) abort();
        at += done;
        n -= done;
    }
}

/* One record: operation, inode, offset, lengths; then two paths and the data. */
static void record(char what, uint64_t inode, int64_t offset, const char *first, const char *second, const void *data,
                   size_t n) {
    char head[160];
    if (trace < 0) return;
    int length = snprintf(head, sizeof head, "%c %llu %lld %zu %zu %zu\n", what, (unsigned long long)inode,
                          (long long)offset, first ? strlen(first) : 0, second ? strlen(second) : 0, n);
    put(head, length);
    if (first) put(first, strlen(first));
    if (second) put(second, strlen(second));
    if (n) put(data, n);
}

static int below(const char *path) {
    size_t n = strlen(root);
    return n && strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == 0);
}

/* Absolute path of a name relative to a folder; symbolic links are left as they are. */
static int absolute(int folder, const char *name, char *out) {
    if (name[0] == '/') return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
    char base[PATH_MAX], link[64];
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return 0;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t n = readlink(link, base, sizeof base - 1);
        if (n < 0) return 0;
        base[n] = 0;
    }
    return snprintf(out, PATH_MAX, "%s/%s", base, name) < PATH_MAX;
}

static int watched(int folder, const char *name, char *out) { return root[0] && absolute(folder, name, out) && below(out); }

static int watched_file(int file, struct stat *found) {
    char link[64], path[PATH_MAX];
    if (!root[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path) && fstat(file, found) == 0;
}

static void end_process(void) { syscall(SYS_kill, getpid(), SIGKILL); }

/* Count an operation and record its kind; return the error that it has to fail with, or 0. */
static int before(char what) {
    char kind[2] = {what, 0};
    record('#', counter, 0, kind, NULL, NULL, 0);
    if (counter++ != chosen) return 0;
    if (mode == KILL_BEFORE) end_process();
    return mode == NO_SPACE ? ENOSPC : mode == IO_ERROR ? EIO : 0;
}

static int was_chosen(void) { return counter - 1 == chosen; }

static void after(void) {
    if (was_chosen() && (mode == KILL_AFTER || mode == TORN)) end_process();
}

/* ---- for the Python side ---- */

void faults_start(const char *folder, int how, long number, int file) {
    mode = how;
    chosen = number;
    counter = 0;
    trace = file;
    snprintf(root, sizeof root, "%s", folder);
}

long faults_stop(void) {
    root[0] = 0;
    return counter;
}

void faults_mark(const char *text) { record('!', 0, 0, text, NULL, NULL, 0); }

/* ---- files ---- */

static int do_open(int folder, const char *name, int flags, mode_t bits) {
    __typeof__(&openat) next = REAL(openat);
    char path[PATH_MAX];
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    if (!writes || (flags & O_TMPFILE) == O_TMPFILE || !watched(folder, name, path)) return next(folder, name, flags, bits);
    int error = before('C');
    if (error) return errno = error, -1;
    struct stat found;
    int existed = lstat(path, &found) == 0;
    int file = next(folder, name, flags, bits);
    if (file >= 0 && fstat(file, &found) == 0) {
        if (!existed) record('C', found.st_ino, 0, path, NULL, NULL, 0);
        else if (flags & O_TRUNC) record('T', found.st_ino, 0, NULL, NULL, NULL, 0);
    }
    after();
    return file;
}

#define OPEN(name, folder_parameter, folder)                    \
    int name(folder_parameter const char *path, int flags, ...) { \
        mode_t bits = 0;                                        \
        if (flags & (O_CREAT | O_TMPFILE)) {                    \
            va_list list;                                       \
            va_start(list, flags);                              \
            bits = va_arg(list, mode_t);                        \
            va_end(list);                                       \
        }                                                       \
        return do_open(folder, path, flags, bits);              \
    }
#define FOLDER int folder,
OPEN(open, , AT_FDCWD)
OPEN(open64, , AT_FDCWD)
OPEN(openat, FOLDER, folder)
OPEN(openat64, FOLDER, folder)

static ssize_t do_write(int file, const void *data, size_t n, off_t offset) {
    struct stat found;
    int at_position = offset < 0;
    if (!watched_file(file, &found)) return syscall(at_position ? SYS_write : SYS_pwrite64, file, data, n, offset);
    int error = before('W');
    if (error) return errno = error, -1;
    if (at_position) offset = fcntl(file, F_GETFL) & O_APPEND ? found.st_size : lseek(file, 0, SEEK_CUR);
    size_t part = was_chosen() && (mode == TORN || mode == SHORT_WRITE) && n > 1 ? n / 2 : n;
    ssize_t done = syscall(at_position ? SYS_write : SYS_pwrite64, file, data, part, offset);
    if (done > 0) record('W', found.st_ino, offset, NULL, NULL, data, done);
    after();
    return done;
}

ssize_t write(int file, const void *data, size_t n) { return do_write(file, data, n, -1); }
ssize_t pwrite(int file, const void *data, size_t n, off_t offset) { return do_write(file, data, n, offset); }
ssize_t pwrite64(int file, const void *data, size_t n, off_t offset) { return do_write(file, data, n, offset); }

ssize_t writev(int file, const struct iovec *parts, int n) {
    ssize_t total = 0;
    for (int k = 0; k < n; k++) {
        ssize_t done = write(file, parts[k].iov_base, parts[k].iov_len);
        if (done < 0) return total ? total : -1;
        total += done;
        if ((size_t)done < parts[k].iov_len) break;
    }
    return total;
}

static int truncated(int file, off_t length) {
    struct stat found;
    if (!watched_file(file, &found)) return syscall(SYS_ftruncate, file, length);
    int error = before('T');
    if (error) return errno = error, -1;
    int answer = syscall(SYS_ftruncate, file, length);
    if (answer == 0) record('T', found.st_ino, length, NULL, NULL, NULL, 0);
    after();
    return answer;
}

int ftruncate(int file, off_t length) { return truncated(file, length); }
int ftruncate64(int file, off_t length) { return truncated(file, length); }

static int synced(int file, long number) {
    struct stat found;
    if (!watched_file(file, &found)) return syscall(number, file);
    int error = before('S');
    if (error) return errno = error, -1;
    int answer = syscall(number, file);
    if (answer == 0) record('S', found.st_ino, 0, NULL, NULL, NULL, 0);
    after();
    return answer;
}

int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

/* ---- names ---- */

static uint64_t inode_of(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_ino : 0;
}

/* An operation on one or two names: a system call, and how it is recorded. */
static int on_names(char what, int folder, const char *name, int other, const char *second, long number, long a, long b,
                    long c, long d, long e) {
    char path[PATH_MAX], target[PATH_MAX] = "";
    if (!watched(folder, name, path) || (second && !absolute(other, second, target)))
        return syscall(number, a, b, c, d, e);
    int error = before(what);
    if (error) return errno = error, -1;
    uint64_t inode = inode_of(path);
    int answer = syscall(number, a, b, c, d, e);
    if (answer == 0) record(what, what == 'M' ? inode_of(path) : inode, 0, path, second ? target : NULL, NULL, 0);
    after();
    return answer;
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return on_names(flags & 2 ? 'X' : 'R', from, old, to, new, SYS_renameat2, from, (long)old, to, (long)new, flags);
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int from, const char *old, int to, const char *new, int flags) {
    return on_names('L', from, old, to, new, SYS_linkat, from, (long)old, to, (long)new, flags);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int unlinkat(int folder, const char *name, int flags) {
    return on_names('U', folder, name, 0, NULL, SYS_unlinkat, folder, (long)name, flags, 0, 0);
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int mkdirat(int folder, const char *name, mode_t bits) {
    return on_names('M', folder, name, 0, NULL, SYS_mkdirat, folder, (long)name, bits, 0, 0);
}
int mkdir(const char *name, mode_t bits) { return mkdirat(AT_FDCWD, name, bits); }
int fchmodat(int folder, const char *name, mode_t bits, int flags) {
    (void)flags;
    return on_names('P', folder, name, 0, NULL, SYS_fchmodat, folder, (long)name, bits, 0, 0);
}
int chmod(const char *name, mode_t bits) { return fchmodat(AT_FDCWD, name, bits, 0); }
