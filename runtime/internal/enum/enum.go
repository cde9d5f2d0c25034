// Package enum names the values of closed sets.
package enum

import "fmt"

// Name returns names[i], or kind(i) for a value that has no name.
func Name[T ~uint8](kind string, names []string, i T) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Parse sets p to the value that text names. The error lists the names.
func Parse[T ~uint8](kind string, names []string, text []byte, p *T) error {
	for i, name := range names {
		if name == string(text) {
			*p = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q: want one of %q", kind, text, names)
}
