// Package pattern translates regular expressions of JSON Schema into what Go matches
// in linear time.
package pattern
