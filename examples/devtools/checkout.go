package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// files are a module that an agent works on.
var files = map[string]string{
	"go.mod":      "module example.com/sums\n\ngo 1.22\n",
	"sum.go":      "package sums\n\n// Sum adds numbers.\nfunc Sum(list ...int) (sum int) {\n\tfor _, n := range list {\n\t\tsum += n\n\t}\n\treturn sum\n}\n",
	"sum_test.go": "package sums\n\nimport (\n\t\"net\"\n\t\"testing\"\n)\n\nfunc TestServed(t *testing.T) {\n\tl, err := net.Listen(\"tcp\", \"127.0.0.1:0\")\n\tif err != nil || Sum(1, 2) != 3 {\n\t\tt.Fatal(err)\n\t}\n\tl.Close()\n}\n",
}

// checkout makes a repository in dir with a change that is not committed.
func checkout(dir string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."},
		{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--message=Add sums"},
	} {
		c := exec.Command("git", append([]string{"-C", dir}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return os.WriteFile(filepath.Join(dir, "sum.go"), []byte(strings.Replace(files["sum.go"], "adds numbers", "returns the sum of numbers", 1)), 0o644)
}

// useGo sets the variables of this host that the declaration names.
func useGo() error {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	root := strings.TrimSpace(string(out))
	return errors.Join(os.Setenv("DEVTOOLS_GOROOT", root), os.Setenv("DEVTOOLS_PATH", filepath.Join(root, "bin")+":/usr/bin:/bin"))
}
