// Package jsonscan steps over the parts of a valid JSON text. It reads no value and checks nothing.
package jsonscan

import "strings"

// Space returns the index of the first byte from i on that is no white space.
func Space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// Value returns the index after the value at i of text, which is valid JSON.
func Value(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			continue
		default:
			for i+1 < len(text) && !strings.ContainsRune(",:]} \t\n\r", rune(text[i+1])) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}
