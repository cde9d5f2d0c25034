package format

import (
	"math"
	"strings"
	"unicode/utf8"
)

// The parameters of Punycode (RFC 3492, section 5).
const (
	punyBase        = 36
	punyTMin        = 1
	punyTMax        = 26
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyInitialN    = 0x80
)

// decodePunycode decodes lower-case ASCII (RFC 3492, section 6.2).
func decodePunycode(s string) ([]rune, bool) {
	var out []rune
	if basic := strings.LastIndexByte(s, '-'); basic > 0 {
		out, s = []rune(s[:basic]), s[basic+1:]
	}
	n, i, bias := rune(punyInitialN), 0, punyInitialBias
	for len(s) > 0 {
		before, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if len(s) == 0 {
				return nil, false
			}
			digit := punyDigit(s[0])
			s = s[1:]
			if digit < 0 || digit > (math.MaxInt32-i)/weight {
				return nil, false
			}
			i += digit * weight
			t := punyThreshold(k, bias)
			if digit < t {
				break
			}
			if weight > math.MaxInt32/(punyBase-t) {
				return nil, false
			}
			weight *= punyBase - t
		}
		size := len(out) + 1
		bias = punyAdapt(i-before, size, before == 0)
		if i/size > utf8.MaxRune-int(n) {
			return nil, false
		}
		n += rune(i / size)
		i %= size
		if !utf8.ValidRune(n) {
			return nil, false
		}
		out = append(out, 0)
		copy(out[i+1:], out[i:])
		out[i] = n
		i++
	}
	return out, true
}

// encodePunycode encodes a label of at most 63 code points (RFC 3492, section 6.3).
func encodePunycode(label []rune) string {
	var b strings.Builder
	for _, r := range label {
		if r < punyInitialN {
			b.WriteByte(byte(r))
		}
	}
	basic := b.Len()
	if basic > 0 {
		b.WriteByte('-')
	}
	n, delta, bias := rune(punyInitialN), 0, punyInitialBias
	for done := basic; done < len(label); {
		next := rune(utf8.MaxRune)
		for _, r := range label {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			writePunyNumber(&b, delta, bias)
			bias = punyAdapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return b.String()
}

// writePunyNumber writes a delta as a number of variable length.
func writePunyNumber(b *strings.Builder, delta, bias int) {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := punyBase; ; k += punyBase {
		t := punyThreshold(k, bias)
		if delta < t {
			b.WriteByte(digits[delta])
			return
		}
		b.WriteByte(digits[t+(delta-t)%(punyBase-t)])
		delta = (delta - t) / (punyBase - t)
	}
}

// punyDigit is the value of a digit, negative for what is none.
func punyDigit(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return int(c - 'a')
	case '0' <= c && c <= '9':
		return int(c-'0') + 26
	}
	return -1
}

func punyThreshold(k, bias int) int { return min(max(k-bias, punyTMin), punyTMax) }

// punyAdapt is the bias after a delta (RFC 3492, section 6.1).
func punyAdapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}
