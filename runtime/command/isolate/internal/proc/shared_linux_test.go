package proc_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/proc"
)

// TestSharedMemory: memory that this process shares is counted once for each object, whether it is
// mapped, open or both, and not when it is gone.
func TestSharedMemory(t *testing.T) {
	const size = 4 << 20
	self := []int{os.Getpid()}
	before := proc.SharedMemory(self, false)

	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	require.Equal(t, before+size, proc.SharedMemory(self, false), "with its whole length, though nothing of it was touched")
	require.NoError(t, unix.Munmap(b))
	require.Equal(t, before, proc.SharedMemory(self, false))

	fd, err := unix.MemfdCreate("x", 0)
	require.NoError(t, err)
	require.NoError(t, unix.Ftruncate(fd, size))
	require.Equal(t, before, proc.SharedMemory(self, false), "nothing of it exists")
	_, err = unix.Pwrite(fd, make([]byte, 1<<20), 0)
	require.NoError(t, err)
	require.Equal(t, before+(1<<20), proc.SharedMemory(self, false), "what exists of it")
	b, err = unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	require.Equal(t, before+(1<<20), proc.SharedMemory(append(self, self...), false), "once")
	require.NoError(t, unix.Close(fd))
	require.Equal(t, before+size, proc.SharedMemory(self, false), "no descriptor tells any more what exists")
	require.NoError(t, unix.Munmap(b))
	require.Equal(t, before, proc.SharedMemory(self, false))
}
