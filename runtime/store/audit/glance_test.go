package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

// FuzzGlance compares the short way to read a note with the long one.
func FuzzGlance(f *testing.F) {
	root := tlog.Hash{1, 2, 3}.String()
	for _, text := range []string{
		"o\n12\n" + root + "\n", "o\n012\n" + root + "\n", "o\n0\n" + root + "\n", "o\n\n" + root + "\n", "o\n12\n" + root + "\nrestored 3 4\n",
		"o\n12\n" + root + "\nmore\n", "o\n9223372036854775807\n" + root + "\n", "o\n9223372036854775808\n" + root + "\n",
		"o\n18446744073709551617\n" + root + "\n", "o\n1x\n" + root + "\n", "o\n12\n" + root[1:] + "\n", "o\n12\n" + root[2:] + "AA\n", "o\n12\n",
		"o\n12\n\r" + root[1:] + "\n", "",
	} {
		f.Add([]byte(text + "\n— o signature\n"))
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		text := note
		for i := range note {
			if i > 0 && note[i] == '\n' && note[i-1] == '\n' {
				text = note[:i-1]
				break
			}
		}
		require.Equal(t, parse(string(text)+"\n"), glance(note))
	})
}
