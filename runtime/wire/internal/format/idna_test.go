package format

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// TestNFCAgrees holds isNFC to golang.org/x/text, on labels made of what composes.
func TestNFCAgrees(t *testing.T) {
	var pool []rune
	for _, c := range idnaCompositions {
		pool = append(pool, c.mark)
		pool = append(pool, []rune(c.bases+c.results)...)
	}
	for _, c := range idnaCombining {
		pool = append(pool, c.lo)
	}
	random := rand.New(rand.NewPCG(1, 2))
	composed := 0
	for range 6_000 {
		label := make([]rune, 1+random.IntN(6))
		label[0] = 'e'
		for i := range label {
			label[i] = pool[random.IntN(len(pool))]
		}
		// Half of them as they come; of the rest the form C, in which two neighbors are swapped now and then.
		if random.IntN(2) == 0 {
			label = []rune(norm.NFC.String(string(label)))
			if i := random.IntN(len(label)); i > 0 && random.IntN(2) == 0 {
				label[i-1], label[i] = label[i], label[i-1]
			}
		}
		want := norm.NFC.IsNormalString(string(label))
		require.Equal(t, want, isNFC(label), "%+q", string(label))
		if !want {
			composed++
		}
	}
	assert.Greater(t, composed, 100)
}

func TestPunycode(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 3_000 {
		label := make([]rune, 1+random.IntN(20))
		for i := range label {
			switch random.IntN(3) {
			case 0:
				label[i] = 'a' + rune(random.IntN(26))
			case 1:
				label[i] = 0x80 + rune(random.IntN(0x2000))
			default:
				label[i] = 0x10000 + rune(random.IntN(0x100000))
			}
		}
		encoded := encodePunycode(label)
		decoded, ok := decodePunycode(encoded)
		require.True(t, ok, encoded)
		require.Equal(t, label, decoded)
	}
	for _, bad := range []string{"99999999", "a-99999", "é", "A", "a-", "-a-!", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"} {
		decoded, ok := decodePunycode(bad)
		assert.False(t, ok && encodePunycode(decoded) == bad && isULabel(decoded), bad)
	}
}

// TestHostnameBidi holds what beside a label from right to left is refused.
func TestHostnameBidi(t *testing.T) {
	for name, want := range map[string]bool{
		"xn--4dbc5h":           true,
		"a.xn--4dbc5h":         true,
		"A.xn--4dbc5h":         true,
		"1a.com":               true,
		"1a.xn--4dbc5h":        false, // begins with a digit
		"a.1.xn--4dbc5h":       false,
		"a-1.xn--4dbc5h":       true,
		"r3---sn-5hne6n7s.com": true, // hyphens in the third and fourth place, and no A-label
	} {
		assert.Equal(t, want, isHostname(name), name)
	}
}

// FuzzHostname holds what accepted names have in common.
func FuzzHostname(f *testing.F) {
	for _, c := range []string{"example.com", "xn--4dbc5h.xn--wva3je", "xn--X", "xn--", "xn---9uc", "XN--ZCA", "a.-", "xn--99999999999"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isHostname(s) {
			return
		}
		require.True(t, isHostname(strings.ToUpper(s)) && isHostname(strings.ToLower(s)), "case matters in %q", s)
		for label := range strings.SplitSeq(s, ".") {
			encoded, ok := cutPrefixFold(label, "xn--")
			if !ok {
				continue
			}
			u, ok := decodePunycode(strings.ToLower(encoded))
			require.True(t, ok)
			require.True(t, norm.NFC.IsNormalString(string(u)), "%+q", string(u))
			require.False(t, slices.ContainsFunc(u, unicode.IsUpper) && !slices.ContainsFunc(u, func(r rune) bool { return unicode.Is(unicode.Cherokee, r) }), "%+q", string(u))
		}
	})
}
