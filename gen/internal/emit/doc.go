// Package emit prints package ir's model as Go source. It decides nothing:
// every name, type and rule was chosen by ir.
//
// It is the only importer of jennifer. What jennifer gets wrong for output that
// must look written by hand is handled in one file, jen.go, by six rules:
//
//   - imports: each is written by hand here, without aliases, grouped as
//     goimports groups them (jennifer guesses an alias for every foreign path
//     and writes one block);
//   - order: composite literals keep the declared order (Dict sorts);
//   - comments: one line each, wrapped and cleaned (jennifer turns a text with
//     a line break into /* */, which a text can end, and writes one that
//     starts with // as it is);
//   - long strings are embedded files, not literals (Lit escapes line breaks);
//   - names: an identifier is checked (jennifer writes any text);
//   - the standard runtime is never referred to (it would be named runtime1).
//
// A file is rendered as fragments, by as many goroutines as there are
// processors: formatting is most of the work, and a fragment of whole
// declarations is formatted as it would be within its file.
package emit
