//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram makes the test binary the program itself.
const asProgram = "WORKSPACE_EXAMPLE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A process is a running example whose temporary files are in temp.
type process struct {
	*exec.Cmd
	temp   string
	in     io.WriteCloser
	pipe   io.Closer
	out    *bufio.Reader
	stderr output
}

// An output can be read while a process writes it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// String returns what was written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return startProgram(t, cmd)
}

// startProgram starts a command with a pipe at each end.
func startProgram(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, temp: t.TempDir()}
	p.Env = append(p.Environ(), "TMPDIR="+p.temp)
	p.Stderr = &p.stderr
	var err error
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.pipe, p.out = out, bufio.NewReader(out)
	require.NoError(t, p.Start())
	return p
}

// end returns the rest of the output and the exit code; no file is left over.
func (p *process) end(t *testing.T) (string, int) {
	t.Helper()
	rest, code := p.rest(t)
	left, err := os.ReadDir(p.temp)
	require.NoError(t, err)
	require.Empty(t, left)
	return rest, code
}

// rest returns the rest of the output and the exit code.
func (p *process) rest(t *testing.T) (string, int) {
	t.Helper()
	rest, err := io.ReadAll(p.out)
	require.NoError(t, err)
	p.Wait() //nolint:errcheck // the code says it
	return string(rest), p.ProcessState.ExitCode()
}

func TestSignalWhileWaitingForInput(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p := start(t, "-calls", "-")
		_, err := io.WriteString(p.in, `{"tool": "file_list", "input": {}}`+"\n")
		require.NoError(t, err)
		_, err = p.out.ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, p.Process.Signal(signal))
		rest, code := p.end(t)
		require.Equal(t, 130, code)
		require.Regexp(t, `^\n1 call on a temporary copy: 1 completed\naudit: ok, \d+ entries, \d+ of them anchored\n$`, rest)
		require.Equal(t, "error: interrupted: no further call was made\n", p.stderr.String())
	}
}

func TestSignalDuringACall(t *testing.T) {
	p := start(t, "-calls", "-")
	_, err := io.WriteString(p.in, `{"tool": "file_list", "input": {}}
{"tool": "slow_write", "input": {"path": "docs/a.md"}}
{"tool": "file_list", "input": {}}
`)
	require.NoError(t, err)
	_, err = p.out.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	rest, code := p.end(t)
	require.Equal(t, 130, code)
	require.Contains(t, rest, " on a temporary copy: ")
	require.NotContains(t, rest, "1 written")
}

func TestReaderWhoLeaves(t *testing.T) {
	p := start(t, "-calls", "-")
	_, err := io.WriteString(p.in, `{"tool": "file_list", "input": {}}`+"\n")
	require.NoError(t, err)
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "#1 "))
	require.NoError(t, p.pipe.Close())
	_, err = io.WriteString(p.in, `{"tool": "file_list", "input": {}}`+"\n")
	require.NoError(t, err)
	p.Wait() //nolint:errcheck // the code says it
	require.Equal(t, 1, p.ProcessState.ExitCode())
	require.Contains(t, p.stderr.String(), "error: output is lost: ")
	left, err := os.ReadDir(p.temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
