// Package values computes what the terms of compiled policies can be, so that checks can
// hold what is compared, indexed and passed against the declarations of the tools. It
// follows locals, rules, functions, data files and built-in functions, for each context
// in which a rule is used, and evaluates rules that do not depend on the input.
package values
