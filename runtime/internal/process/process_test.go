package process

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// SEMANTICS 6.10.1
func TestThisProcess(t *testing.T) {
	p := Setup()
	assert.Equal(t, os.Getpid(), p.PID)
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		assert.Regexp(t, `^\d+$`, p.Start)
		assert.Regexp(t, `^[0-9a-f-]{36}$`, p.Boot)
	}
}

func TestStartOf(t *testing.T) {
	assert.Equal(t, "22", startOf([]byte("1 (a) b) (c) 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23")))
	for _, s := range []string{"", "1 (a", "1 (a) 3 4"} {
		assert.Empty(t, startOf([]byte(s)))
	}
}
