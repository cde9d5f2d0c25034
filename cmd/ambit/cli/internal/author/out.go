package author

import (
	"errors"
	"io"
	"os"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// toStdout reports whether the file of -o stands for standard output.
func toStdout(out string) bool {
	return out == "-" || out == "/dev/stdout" || out == "/dev/fd/1" || out == "/proc/self/fd/1"
}

// isStream reports whether a file that exists is a pipe, a device or a socket. It is written as it is: reading it first, to see
// what it holds, might never end.
func isStream(out string) bool {
	info, err := os.Stat(out)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// writeOut writes the file of -o: to stdout where that stands for it, into a pipe or device as it is, and any other file
// as a whole or not at all.
func writeOut(stdout io.Writer, out string, text []byte) error {
	switch {
	case toStdout(out):
		_, err := stdout.Write(text)
		return err
	case isStream(out):
		f, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return cmdutil.FileProblem(out, err, "name a file that you may write")
		}
		return nil
	}
	return uninterrupted(func() error { return replaceFile(out, text) })
}
