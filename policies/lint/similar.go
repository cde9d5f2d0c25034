package lint

import (
	"slices"
	"strings"
)

// similar returns the name that another one is a slip of the keyboard away from:
// a case, a separator, a letter too many, one too few, two in the wrong order, or
// another letter. It is narrower than didYouMean, since it decides whether a name is
// a typo. It returns "" when there is none.
func similar(name string, candidates []string) string {
	if name == "" {
		return ""
	}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if c != name && slip(plain(name), plain(c)) {
			return c
		}
	}
	return ""
}

// plain writes a name without what people mix up first.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// slip says that two names differ by one slip, two in long ones. Short names
// differ by one letter on purpose, such as get and set.
func slip(a, b string) bool {
	most := 1
	if min(len(a), len(b)) >= 8 {
		most = 2
	}
	d := swaps(a, b)
	return d <= most && (d == 0 || len(a) != len(b) || min(len(a), len(b)) > 3 || transposed(a, b))
}

// transposed says that two names have the same letters.
func transposed(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// swaps is the distance of two names in which neighbors that changed places
// count once: the optimal string alignment distance.
func swaps(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
