// Package format checks texts against the formats of JSON Schema: dates and times of
// RFC 3339, host names of RFC 1123 and RFC 5890, e-mail addresses of RFC 5321, URIs of RFC 3986,
// addresses, UUIDs. A check takes time that is linear in the text.
package format
