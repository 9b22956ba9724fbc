//go:build !geosql_loadable

package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// The parts of the system that the shim uses, as macOS declares them.
var macOS = map[string]string{
	"stdlib.h": `
#include <stddef.h>
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
`,
	"string.h": `
#include <stddef.h>
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
size_t strlen(const char *);
char *strncpy(char *, const char *, size_t);
`,
	"time.h": `
struct timespec { long tv_sec, tv_nsec; };
typedef enum { CLOCK_MONOTONIC = 6 } clockid_t;
int clock_gettime(clockid_t, struct timespec *);
`,
	"unistd.h": `
enum { _SC_PAGESIZE = 29 };
long sysconf(int);
`,
	"pthread.h": `
int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
`,
	"sys/mman.h": `
#include <stddef.h>
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANON = 0x1000 };
#define MAP_FAILED ((void *)-1)
void *mmap(void *, size_t, int, int, int, long long);
int minherit(void *, size_t, int);
`,
	"mach/vm_inherit.h": `
enum { VM_INHERIT_NONE = 2 };
`,
}

// The C of both builds, with the C that cgo makes of the package for it, compiles for macOS by clang, and uses nothing of the
// system but the declarations above. That shows neither that it links nor that it runs: the SDK of macOS is needed for that.
func TestShimForMacOS(t *testing.T) {
	need.Programs(t, "go", "clang")
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, text := range macOS {
		write(filepath.Join("include", name), text)
	}
	clang := []string{"clang", "-target", "arm64-apple-macos11", "-nostdlibinc", "-isystem", filepath.Join(folder, "include")}
	run := func(command ...string) (string, error) {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1", "CC="+strings.Join(clang, " "))
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	list := func(args ...string) []string {
		t.Helper()
		out, err := run(append([]string{"go", "list"}, args...)...)
		if err != nil {
			t.Fatal(out)
		}
		return strings.Split(out, "\n")
	}
	driver := list("-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3")[0] // it has sqlite3ext.h
	for _, tags := range []string{"", "geosql_loadable"} {
		made := filepath.Join(folder, "made", tags)
		parts := list("-tags="+tags, "-f", `{{join .CgoCFLAGS " "}}{{"\n"}}{{join .CgoFiles " "}}{{"\n"}}{{join .CFiles " "}}`)
		flags := append(strings.Fields(parts[0]), "-I.", "-I"+driver, "-I"+made)
		cgo := slices.Concat([]string{"go", "tool", "cgo", "-objdir", made, "--"}, flags, strings.Fields(parts[1]))
		if out, err := run(cgo...); err != nil {
			t.Fatal(out)
		}
		compile := func(file string) (string, error) {
			return run(slices.Concat(clang, flags, []string{"-Werror", "-c", "-o", os.DevNull, file})...)
		}
		for _, file := range strings.Fields(parts[2]) {
			if out, err := compile(file); err != nil {
				t.Errorf("%s, tags %q:\n%s", file, tags, out)
			}
		}
		for _, planted := range []string{
			"#include <sys/prctl.h>",
			"int gs_planted(void) { return sched_getcpu(); }",
			"int gs_planted(void *page) { return madvise(page, 1, MADV_WIPEONFORK); }",
		} {
			source, err := os.ReadFile("platform_unix.c")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := compile(write("planted.c", string(source)+planted+"\n")); err == nil {
				t.Errorf("tags %q: it compiles with what macOS lacks: %s", tags, planted)
			}
		}
	}
}
