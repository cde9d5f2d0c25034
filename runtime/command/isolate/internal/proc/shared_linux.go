package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// SharedMemory returns how many bytes of memory that processes share exist because of some
// processes, at most: also those that none of them has touched or mapped. Of System V segments it
// counts all that this process sees, where segments is set.
//
// Memory without a descriptor counts with the length of its mappings: the kernel does not tell how
// much of it exists. A descriptor that waits in a socket is not seen.
func SharedMemory(pids []int, segments bool) (sum int64) {
	files, mapped := map[string]int64{}, map[string]int64{}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid)
		openFiles(dir, files)
		own := map[string]int64{}
		mappings(dir, own)
		for file, n := range own {
			mapped[file] = max(mapped[file], n)
		}
	}
	for _, n := range files {
		sum += n
	}
	for file, n := range mapped {
		if _, open := files[file]; !open {
			sum += n
		}
	}
	if segments {
		text, _ := os.ReadFile("/proc/sysvipc/shm")
		sum += residentSegments(string(text))
	}
	return sum
}

// openFiles adds what the descriptors on memory of a process hold, by inode.
func openFiles(dir string, files map[string]int64) {
	list, _ := filepath.Glob(dir + "/fd/*")
	for _, fd := range list {
		if link, err := os.Readlink(fd); err != nil || !strings.HasPrefix(link, "/memfd:") {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(fd, &st) == nil {
			files[strconv.FormatUint(st.Ino, 10)] = st.Blocks * 512
		}
	}
}

// mappings adds the lengths of a process's mappings of memory that it may share, by inode.
// System V segments are not among them.
func mappings(dir string, lengths map[string]int64) {
	text, _ := os.ReadFile(dir + "/maps")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // range, permissions, offset, device, inode, path
		if len(f) < 6 || len(f[1]) != 4 || f[1][3] != 's' || f[5] != "/dev/zero" && !strings.HasPrefix(f[5], "/memfd:") {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			lengths[f[4]] += int64(b - a)
		}
	}
}

// residentSegments adds the column rss of the table of System V segments.
func residentSegments(table string) (sum int64) {
	column := -1
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if column < 0 {
			for i, name := range f {
				if name == "rss" {
					column = i
				}
			}
			if column < 0 {
				return 0
			}
			continue
		}
		if len(f) > column {
			n, _ := strconv.ParseInt(f[column], 10, 64)
			sum += n
		}
	}
	return sum
}
