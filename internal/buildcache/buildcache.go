// Package buildcache is for tests that run the go command: with it the command
// finds in its build cache what an earlier run of the tests built.
package buildcache

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// stale is the age at which a folder was left behind by a test that was killed.
const stale = time.Hour

// Dir returns an empty temporary folder, which is removed when the test ends. Its
// path is the same in each run, because the go command caches what it builds by the
// folder of the sources. While another process uses that folder the path is another.
func Dir(t testing.TB, name string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(here))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("ambit-%x-%s", sum.Sum64(), name))
	if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > stale {
		_ = os.RemoveAll(dir)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Program returns the path of a program built from a package of this module, which
// is named as go build wants it.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := Copy(pkg, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Copy builds a program to a path, with flags of go build. The go command caches the
// programs that it runs, and none of those that it builds: this has it run cp with
// the cached one.
func Copy(pkg, path string, flags ...string) error {
	args := slices.Concat([]string{"run", "-exec", "cp"}, flags, []string{pkg, path})
	if runtime.GOOS == "windows" {
		args = slices.Concat([]string{"build", "-o", path}, flags, []string{pkg})
	}
	cmd := exec.Command("go", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
