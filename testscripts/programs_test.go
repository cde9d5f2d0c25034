package testscripts_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
)

// The programs that run commands in ways for which a script would need a shell.

// fullDisk runs a command whose standard output has no space left, and ends as
// it does: fulldisk COMMAND [ARG...]
func fullDisk() {
	out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	check(err)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, os.Stderr
	os.Exit(exitCode(cmd.Run()))
}

// atOnce runs a command several times at the same time, prints what each has
// printed, and then their exit codes in ascending order: atonce N COMMAND [ARG...]
func atOnce() {
	n, err := strconv.Atoi(os.Args[1])
	check(err)
	codes := make([]int, n)
	stdout, stderr := make([]bytes.Buffer, n), make([]bytes.Buffer, n)
	var all sync.WaitGroup
	for i := range n {
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stdout, cmd.Stderr = &stdout[i], &stderr[i]
		all.Go(func() { codes[i] = exitCode(cmd.Run()) })
	}
	all.Wait()
	for i := range n {
		_, err := stdout[i].WriteTo(os.Stdout)
		check(err)
		_, err = stderr[i].WriteTo(os.Stderr)
		check(err)
	}
	slices.Sort(codes)
	fmt.Println("exit codes:", codes)
}

// exitCode is that of a command that was run. A command that could not be started
// has none.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	check(err)
	return 0
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
