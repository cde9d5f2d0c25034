package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build builds a package of the tree in a folder.
func build(ctx context.Context, tree, to, pkg string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", to, pkg)
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s in %s: %w\n%s", pkg, tree, err, out)
	}
	return to, nil
}

// against compares with an earlier commit, in turns.
func (r *rig) against(ctx context.Context, commit string) (bars []bar, err error) {
	tree := filepath.Join(r.dir, "before")
	if out, err := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", tree, commit).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("a worktree of %s: %w\n%s", commit, err, out)
	}
	defer func() {
		out, e := exec.Command("git", "worktree", "remove", "--force", tree).CombinedOutput()
		if e != nil {
			err = errors.Join(err, fmt.Errorf("remove the worktree: %w\n%s", e, out))
		}
	}()
	if err := copySources(filepath.Join("internal", "longrun"), filepath.Join(tree, "internal", "longrun")); err != nil {
		return nil, err
	}
	former, err := build(ctx, tree, filepath.Join(r.dir, "longrun-before"), "./internal/longrun")
	if err != nil {
		return nil, err
	}
	old := made{filepath.Join(r.dir, "old.db"), r.many.calls}
	if _, err := r.child(ctx, former, "generate", old); err != nil {
		return nil, err
	}
	var then, now []figures
	for range 2 * turns {
		f, err := r.child(ctx, former, "durable", old)
		if err != nil {
			return nil, err
		}
		then = append(then, f)
		if f, err = r.child(ctx, r.program, "durable", r.many); err != nil {
			return nil, err
		}
		now = append(now, f)
	}
	c, d := medians(then), medians(now)
	return []bar{
		{"CPU of durable calls, to those of " + commit, d["cpu"] / c["cpu"], noise, false, quiet, fmt.Sprintf("%.3f and %.3f s", c["cpu"], d["cpu"])},
		{"a durable call, to one of " + commit, d["one"] / c["one"], noise, false, quiet, fmt.Sprintf("%.0f and %.0f µs", c["one"], d["one"])},
		{"calls of 32 callers a second, to those of " + commit, d["all"] / c["all"], 1 / noise, true, quiet, fmt.Sprintf("%.0f and %.0f", c["all"], d["all"])},
	}, nil
}

// noise is what "not worse" allows: the medians of two runs of one program differ by so much.
const noise = 1.1

// stub is archive.go where there are no segments: no child measures them.
const stub = "package main\n\nvar writeSegment measurement\n"

// copySources copies the files of this program to an earlier commit, but for its tests.
func copySources(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if name == "archive.go" {
			text = []byte(stub)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
