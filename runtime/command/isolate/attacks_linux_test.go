package isolate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestAttacks runs the attacks in each box that the host can build: no one leaks, and the controls
// work.
func TestAttacks(t *testing.T) {
	e := newTarget(t)
	for _, f := range boxes()[:3] {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			exit := f.attack(t, r, e, "attacks", attackLimits)
			require.Zero(t, exit.Code, "%s\n%s", exit.Stdout.Head, exit.Stderr.Head)
			tried := judge(t, string(exit.Stdout.Head), true)
			require.GreaterOrEqual(t, tried, 50, "attacks")
		})
	}
}

// TestAttacksOnLimits tries to get more descriptors, longer files, a larger folder and other calls.
func TestAttacksOnLimits(t *testing.T) { useUp(t, boxes()[:2], attacksOnLimits, time.Minute) }

// TestAttacksOnMemory, which uses 1 GiB where nothing stops it, runs with AMBIT_BATTERY=ci only.
func TestAttacksOnMemory(t *testing.T) { useUpInBattery(t, boxes(), attacksOnMemory, time.Minute) }

// TestAttacksOnCPU takes seconds of CPU: with AMBIT_BATTERY=ci only.
func TestAttacksOnCPU(t *testing.T) { useUpInBattery(t, boxes()[:2], attacksOnCPU, 2*time.Second) }

// TestAttacksByNumber starts hundreds of processes: with AMBIT_BATTERY=ci only.
func TestAttacksByNumber(t *testing.T) { useUpInBattery(t, boxes()[:2], attacksByNumber, time.Minute) }

func useUpInBattery(t *testing.T, boxes []boxForm, list []attack, cpu time.Duration) {
	t.Helper()
	if !battery.Full(t) {
		t.Skip("it uses up what it can: with AMBIT_BATTERY only")
	}
	useUp(t, boxes, list, cpu)
}

// useUp gives each attack a box of its own, in each kind of box.
func useUp(t *testing.T, boxes []boxForm, list []attack, cpu time.Duration) {
	t.Helper()
	limits := useLimits
	limits.CPU = cpu
	e := newTarget(t)
	for _, f := range boxes {
		t.Run(f.name, func(t *testing.T) {
			r := f.open(t)
			for _, a := range list {
				exit := f.attack(t, r, e, a.name, limits)
				t.Logf("%s: code %d %s, %s %s: %.100s", a.name, exit.Code, exit.Signal, exit.Cause, exit.Limit, exit.Stdout.Head)
				judge(t, string(exit.Stdout.Head), true)
			}
		})
	}
}

// TestAttacksAsAnOrdinaryUser runs the attacks once more, as a user without privileges.
func TestAttacksAsAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user already, and the column of root needs root")
	}
	asNobody(t, "TestAttacks", "-test.v")
}

// TestHeavyAttacksAsAnOrdinaryUser runs those that use up what they can: with AMBIT_BATTERY=ci only.
func TestHeavyAttacksAsAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 || !battery.Full(t) {
		t.Skip("it needs root, to become an ordinary user, and AMBIT_BATTERY")
	}
	asNobody(t, "TestAttacksOnLimits|TestAttacksOnMemory|TestAttacksOnCPU|TestAttacksByNumber", "-test.v")
}

// asNobody runs tests of this program as a user without privileges.
func asNobody(t *testing.T, run string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	text, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	program := filepath.Join(dir, "tests")
	require.NoError(t, os.WriteFile(program, text, 0o755))
	c := exec.Command(program, append([]string{"-test.run", "^(" + run + ")$"}, flags...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	require.Contains(t, string(out), "--- PASS")
}

// TestAttacksWork runs the attacks without a box, in namespaces of mounts and System V objects
// that are thrown away: they get what they are after, so that to stop them means something.
func TestAttacksWork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("an ordinary user cannot make a namespace of mounts without one of users")
	}
	t.Setenv("TOPSECRET", "1") // the attack on the environment of the agent finds that which it started with
	e := newTarget(t)
	text, _ := json.Marshal(e)
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "AMBIT_ACT=attacks", "AMBIT_UNBOXED=1", "AMBIT_TARGET="+string(text), "HOME="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC}
	out, err := c.Output()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this host gives no namespaces, in which the attacks could be made without a box")
	}
	require.NoError(t, err)
	judge(t, string(out), false)
	stopped := 0
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "STOP") {
			stopped++
			t.Log(line)
		}
	}
	require.Less(t, stopped, 8, "attacks that do not work on this host")
	require.Greater(t, strings.Count(string(out), "LEAK"), 35)
}

// TestSegmentsEndWithTheBox: a System V segment that a command leaves behind is not on the host.
func TestSegmentsEndWithTheBox(t *testing.T) {
	key := 1<<30 + os.Getpid()
	f := boxes()[3]
	r := f.open(t)
	exit := f.attack(t, r, newTarget(t), fmt.Sprint("segment ", key), attackLimits)
	require.Equal(t, "made\n", string(exit.Stdout.Head), "%s", exit.Stderr.Head)
	id, err := unix.SysvShmGet(key, 4096, 0)
	if err == nil {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	require.ErrorIs(t, err, unix.ENOENT)
}

// TestHiddenProcess: a process that makes itself one that cannot be dumped can still be looked into
// by its watcher.
func TestHiddenProcess(t *testing.T) {
	e := newTarget(t)
	for _, f := range boxes()[:2] {
		r := f.open(t)
		exit := f.attack(t, r, e, "hide", attackLimits)
		require.Equal(t, "seen\n", string(exit.Stdout.Head), "%s", exit.Stderr.Head)
	}
}

// judge reads what attacks printed and counts them. Controls have to work, and in a box nothing
// else may.
func judge(t *testing.T, text string, boxed bool) (tried int) {
	t.Helper()
	for line := range strings.Lines(text) {
		verdict, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, why, _ := strings.Cut(name, "\t")
		switch {
		case control(name):
			if verdict != "LEAK" {
				t.Errorf("%s: does not work: %s", name, why)
			}
		case verdict == "LEAK" && boxed:
			t.Errorf("LEAK: %s", name)
			tried++
		default:
			tried++
		}
	}
	return tried
}

// A boxForm is a box that attacks are run in.
type boxForm struct {
	form
	network runtime.Network
	shared  bool
}

func boxes() []boxForm {
	full, plain := forms()[0], forms()[1]
	wired := full
	wired.name = "box with loopback"
	shared, sharedPlain := full, plain
	shared.name, sharedPlain.name = "box with shared memory", "box with shared memory and without namespaces"
	return []boxForm{
		{full, runtime.NetworkNone, false}, {plain, runtime.NetworkNone, false}, {wired, runtime.NetworkLoopback, false},
		{shared, runtime.NetworkNone, true}, {sharedPlain, runtime.NetworkNone, true},
	}
}

var (
	attackLimits = runtime.ProcessLimits{Memory: 1 << 30, Output: 1 << 16, Scratch: 8 << 20, File: 1 << 20, Files: 64, Processes: 100, CPU: time.Minute}
	useLimits    = runtime.ProcessLimits{Memory: 256 << 20, Output: 1 << 12, Scratch: 32 << 20, File: 16 << 20, Files: 64, Processes: 64}
)

// attack runs attacks in a box.
func (f boxForm) attack(t *testing.T, r *isolate.Runner, e target, what string, limits runtime.ProcessLimits) *process.Exit {
	t.Helper()
	program, err := process.Find(e.Program(), "")
	require.NoError(t, err)
	e.Loopback = f.network == runtime.NetworkLoopback
	text, _ := json.Marshal(e)
	limits.SharedMemory = f.shared
	t.Setenv("TOPSECRET", "1")
	exit, err := r.Run(t.Context(), &process.Job{
		Spec:    &process.Spec{Tier: f.tier, Workspace: e.Workspace, Network: f.network, Limits: limits},
		Program: program, Argv: []string{"attack"}, Env: []string{"AMBIT_ACT=" + what, "AMBIT_TARGET=" + string(text)},
	})
	require.NoError(t, err)
	return exit
}

// Program is this test binary, by a path of its own: go test may have removed its folder's links.
func (e target) Program() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// newTarget makes what the attacks are after.
func newTarget(t *testing.T) target {
	t.Helper()
	dir := t.TempDir()
	e := target{Name: fmt.Sprintf("ambit-%d", os.Getpid()), Secret: filepath.Join(dir, "secret"), Outside: filepath.Join(dir, "outside"),
		Workspace: filepath.Join(dir, "ws"), Agent: os.Getpid()}
	require.NoError(t, os.Mkdir(e.Outside, 0o777))
	require.NoError(t, os.Mkdir(e.Workspace, 0o777))
	for path, text := range map[string]string{e.Secret: "secret", e.Outside + "/victim": "v", e.Outside + "/gone": "g", e.Workspace + "/readme": "r"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	leaked, err := unix.Open(e.Secret, unix.O_RDONLY, 0) // without CLOEXEC
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(leaked) })

	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { tcp.Close() })
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { udp.Close() })
	go func() {
		b := make([]byte, 64)
		for {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo(b[:n], from)
		}
	}()
	e.TCP, e.UDP = tcp.Addr().String(), udp.LocalAddr().String()
	sockets, err := os.MkdirTemp("/tmp", "as") // their paths must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	e.Unix, e.Datagram, e.Abstract = sockets+"/s", sockets+"/d", "@"+e.Name
	for _, s := range []struct{ network, address string }{{"unix", e.Unix}, {"unix", e.Abstract}} {
		l, err := net.Listen(s.network, s.address)
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
	}
	d, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: e.Datagram, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return e
}
