package testscripts_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ambit-tools/ambit/internal/buildcache"
)

// The commands that the scripts need besides testscript's own. With them a script
// needs no shell and no tools of the system: it runs on every machine that has Go.

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":   cmdExits,
		"program": cmdProgram,
		"repeat":  cmdRepeat,
		"replace": cmdReplace,
		"rewrite": cmdRewrite,
		"append":  cmdAppend,
		"age":     cmdAge,
		"appears": cmdAppears,
		"files":   cmdFiles,
		"capture": cmdCapture,
	}
}

// cmdExits runs a command and requires its exit code: exits CODE COMMAND [ARG...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	have := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		have = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if have != want {
		ts.Fatalf("exit code %d, want %d", have, want)
	}
}

// cmdProgram builds a package of this checkout to a file: program PACKAGE FILE
func cmdProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: program PACKAGE FILE")
	}
	ts.Check(buildcache.Copy("."+args[0], ts.MkAbs(args[1])))
}

// cmdRepeat appends N copies of a text, in which \n is a line break and \xff a
// byte that no UTF-8 has, to a file: repeat N TEXT FILE
func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat N TEXT FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := strings.NewReplacer(`\n`, "\n", `\xff`, "\xff").Replace(args[1])
	appendTo(ts, args[2], strings.Repeat(text, n))
}

// cmdAppend appends what a file holds to another: append FROM TO
func cmdAppend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append FROM TO")
	}
	appendTo(ts, args[1], ts.ReadFile(args[0]))
}

func appendTo(ts *testscript.TestScript, file, text string) {
	f, err := os.OpenFile(ts.MkAbs(file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	ts.Check(err)
	_, err = f.WriteString(text)
	ts.Check(errors.Join(err, f.Close()))
}

// cmdReplace replaces a text, which must be there, in a file: replace OLD NEW FILE
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	content := ts.ReadFile(args[2])
	if !strings.Contains(content, args[0]) {
		ts.Fatalf("%s does not contain %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(content, args[0], args[1])), 0o644))
}

// cmdRewrite replaces what matches a regular expression, which must be there, by
// a text in which \n is a line break: rewrite PATTERN NEW FILE
func cmdRewrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rewrite PATTERN NEW FILE")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	content := ts.ReadFile(args[2])
	if !pattern.MatchString(content) {
		ts.Fatalf("%s does not match %q", args[2], args[0])
	}
	content = pattern.ReplaceAllLiteralString(content, strings.ReplaceAll(args[1], `\n`, "\n"))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(content), 0o644))
}

// cmdAge makes files as old as this century: age FILE...
func cmdAge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: age FILE...")
	}
	then := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	for _, file := range args {
		ts.Check(os.Chtimes(ts.MkAbs(file), then, then))
	}
}

// cmdAppears waits until a file is there: appears FILE
func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	for {
		if _, err := os.Stat(ts.MkAbs(args[0])); !errors.Is(err, fs.ErrNotExist) {
			ts.Check(err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// cmdFiles lists everything below a folder, hidden or not, on standard output: files DIR
func cmdFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: files DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			_, err = fmt.Fprintln(ts.Stdout(), filepath.ToSlash(name))
		}
		return err
	}))
}

// cmdCapture sets a variable to what the group of a regular expression matches in
// a file: capture NAME PATTERN FILE
func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture NAME PATTERN FILE")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(found) != 2 {
		ts.Fatalf("%s does not match %q with one group", args[2], args[1])
	}
	ts.Setenv(args[0], found[1])
}
